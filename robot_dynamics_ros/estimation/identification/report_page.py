# SPDX-License-Identifier: Apache-2.0
"""What reports are made of: the page around them, its style, its picture and scrolling tables."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

import numpy as np


def page(title: str, parts: Sequence[str]) -> str:
    """
    Return a page without outside resources, for screens of any width, light or dark.

    :param title: title of the page.
    :param parts: its content, HTML.
    """
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f'<title>{escape(title)}</title><style>{STYLE}</style></head><body>'
            + '\n'.join(parts) + '</body></html>\n')


def percent(part: float) -> str:
    """Return a part of one in per cent; a dash where it is not known."""
    return f'{100 * part:.1f} %' if np.isfinite(part) else '–'


def picture_of_robot(png: bytes | None, robot: str) -> str:
    """
    Return a picture beside the headline; nothing without one.

    :param png: picture as PNG.
    :param robot: name of the robot, for readers who cannot see it.
    """
    if png is None:
        return ''
    data = base64.b64encode(png).decode('ascii')
    return f'<img class="robot" alt="{escape(robot)}" src="data:image/png;base64,{data}">'


def scrolling(table: str) -> str:
    """Return a table that scrolls where the screen is narrow."""
    return f'<div class="scroll">{table}</div>'


STYLE = """
:root { --ink:#1c2430; --soft:#5c6773; --line:#e2e6ea; --page:#fff; --card:#f7f8fa;
  --measured:#8a94a0; --model:#0b63ce; --urdf:#d98200; --rest:#b3261e; --good:#136c3a;
  --good-card:#e7f5ec; --bad:#a11212; --bad-card:#fdecec; --warn:#8a5a00; --warn-card:#fdf1da;
  --span:#9cc2f2; color-scheme:light dark; }
@media (prefers-color-scheme: dark) { :root { --ink:#e6e9ee; --soft:#9aa5b1; --line:#333b45;
  --page:#14181e; --card:#1d232b; --measured:#7c8794; --model:#5aa2ff; --urdf:#f0a63a;
  --rest:#ff7b72; --good:#5fd38d; --good-card:#15301f; --bad:#ff8a8a; --bad-card:#3a1a1a;
  --warn:#f0c060; --warn-card:#3a2c10; --span:#2c558c; } }
* { box-sizing:border-box; }
body { font:15px/1.5 system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
  color:var(--ink); background:var(--page); margin:0 auto; padding:28px 24px 60px;
  max-width:1000px; }
h1 { font-size:1.5rem; margin:0 0 2px; } h2 { font-size:1.12rem; margin:34px 0 8px; }
h3 { font-size:.95rem; margin:18px 0 2px; font-weight:600; }
p { margin:4px 0 10px; } .soft { color:var(--soft); } small { color:var(--soft); }
.verdict { border-radius:10px; padding:16px 20px; margin:16px 0 18px; display:grid;
  grid-template-columns:auto 1fr; gap:4px 26px; align-items:center; }
.verdict.passed { background:var(--good-card); border-left:6px solid var(--good); }
.verdict.failed { background:var(--bad-card); border-left:6px solid var(--bad); }
.verdict .figure { font-size:2.5rem; font-weight:700; line-height:1.1; }
.passed .figure, .passed strong { color:var(--good); }
.failed .figure, .failed strong { color:var(--bad); }
.verdict ul { margin:4px 0 0; padding-left:18px; }
.facts { display:grid; grid-template-columns:repeat(auto-fit,minmax(150px,1fr)); gap:10px; }
.facts div { background:var(--card); border-radius:8px; padding:8px 12px; }
.facts b { display:block; font-size:1.12rem; font-weight:600; }
table { border-collapse:collapse; width:100%; font-size:.86rem; }
th,td { padding:3px 8px; text-align:right; border-bottom:1px solid var(--line);
  vertical-align:middle; white-space:nowrap; }
th { color:var(--soft); font-weight:500; } td.text,th.text { text-align:left; }
td.formula { white-space:normal; text-align:left; overflow-wrap:anywhere; color:var(--soft);
  font:12px/1.35 ui-monospace,Menlo,Consolas,monospace; min-width:170px; }
td.name { font-family:ui-monospace,Menlo,Consolas,monospace; text-align:left; }
tr.prior td, tr.zero td { color:var(--soft); background:var(--card); }
.tag { font-size:.76rem; border-radius:4px; padding:1px 6px; }
.tag.excited { background:var(--good-card); color:var(--good); }
.tag.uncertain { background:var(--warn-card); color:var(--warn); }
.tag.prior, .tag.zero { background:var(--line); color:var(--soft); }
svg { width:100%; height:auto; display:block; } svg text { font-size:12px; fill:var(--soft); }
.chart, .scroll { overflow-x:auto; } .chart svg { min-width:640px; }
.pair .chart svg { min-width:320px; }
.pair { display:grid; grid-template-columns:repeat(auto-fit,minmax(320px,1fr)); gap:10px; }
.robot { float:right; width:min(34%,300px); max-height:330px; object-fit:contain;
  margin:0 0 8px 18px; border-radius:10px; background:#fff; } h2 { clear:right; }
a { color:var(--model); }
svg .grid { stroke:var(--line); } svg polyline { fill:none; stroke-width:1.3;
  stroke-linejoin:round; vector-effect:non-scaling-stroke; }
svg .measured { stroke:var(--measured); stroke-width:4; } svg .model { stroke:var(--model); }
svg .urdf { stroke:var(--urdf); stroke-dasharray:4 3; } svg .rest { stroke:var(--rest); }
svg.interval { width:110px; } .interval .span { fill:var(--span); }
.point { fill:var(--measured); opacity:.35; }
.interval .dot, .dot { fill:var(--model); }
.interval .tick { stroke:var(--urdf); stroke-width:2; }
.whisker { stroke:var(--model); stroke-width:2; } .stem { stroke:var(--span); stroke-width:5; }
.zero-line { stroke:var(--urdf); stroke-width:2; }
.key { display:flex; gap:18px; flex-wrap:wrap; font-size:.82rem; color:var(--soft); }
.key i { display:inline-block; width:22px; height:0; border-top:3px solid; vertical-align:middle;
  margin-right:6px; }
.bar { background:var(--line); height:8px; width:110px; border-radius:4px; overflow:hidden;
  display:inline-block; vertical-align:middle; } .bar i { display:block; height:8px;
  background:var(--model); } .bar.urdf i { background:var(--urdf); }
ul.plain { padding-left:18px; margin:4px 0; }
@media (max-width:640px) { body { padding:16px 12px 40px; } h1 { font-size:1.25rem; }
  .verdict { grid-template-columns:1fr; padding:12px 14px; }
  .robot { float:none; width:100%; max-height:300px; margin:0; }
  .bar { display:none; } th,td { padding:3px 5px; } th { white-space:normal; } }
@media print { body { padding:0; } section.joint { break-inside:avoid; } }
"""
