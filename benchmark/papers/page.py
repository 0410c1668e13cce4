# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md from its template: text and errata stand there, numbers are calculated here."""

from __future__ import annotations

from pathlib import Path

from papers import angeles, khalil, lin, lu_meng, mutation

TEMPLATE = Path(__file__).with_name('template.md')


def page(root: str) -> str:
    """
    Return the page.

    :param root: folder of the repository.
    """
    return TEMPLATE.read_text(encoding='utf-8').format(
        table_i=lin.table_i(), counts=lin.counts(), table_iii=lin.table_iii(),
        corollary_6=lin.corollary_6(), figure_9_2=khalil.figure_9_2(),
        table_9_2=khalil.table_9_2(), base_parameters=khalil.base_parameters(),
        groupings=khalil.groupings(), table_9_5=khalil.table_9_5(), table_9_6=khalil.table_9_6(),
        folded=khalil.folded(root),
        direct_dynamics=khalil.direct_dynamics(), table_1=angeles.table_1(),
        example_1=angeles.example_1(), example_2=angeles.example_2(),
        two_joints=lu_meng.two_joints(), case=lu_meng.case(root), filtered=lu_meng.filtered(root),
        identified=lu_meng.identified(root), composite=lu_meng.composite(root),
        mutation=mutation.survivors())
