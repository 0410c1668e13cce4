# SPDX-License-Identifier: Apache-2.0
# make demo    show it working          make lint    ruff and mypy
# make test    lint and all tests       make bench   measured figures
# make setup   only make .venv          make clean   remove what make has made
# make fuzz    hostile files, messages, goals and parameters for 5 minutes (SECONDS=300 SEED=1 ARGS='--target urdf')
# make soak    nodes under load, about ten minutes (make MINUTES=30 soak), with a table at the end
# make bench-peers   the same beside Pinocchio, CasADi, MuJoCo, Drake and adam (some minutes, .venv-speed)
# make proof   other physics as judge: DART, PyBullet, Drake, MuJoCo (some minutes, .venv-proof)
# make bench-identification-peers   FIGAROH and mujoco.sysid on the same rows as ours (.venv-peers; ARGS='simulated ur10')
# make papers  docs/papers.md: every table of the five papers, calculated anew
# make pictures   the pictures of README and docs (needs chromium; ARGS='view live' for some)
# make collisions   exciting motions of many robots and seeds, judged by MuJoCo and FCL (hours; ARGS='--seeds 2 --robots panda,ur5')
# make docs    the documentation as a site: output/site/index.html (.venv-docs); warnings are errors
# make pages   pages that the code writes, and what the commands in docs/ print (some minutes)
# make coverage   part of the lines that the tests run, per folder; at least 95 % in the core
# Another Python than python3: make PYTHON=python3.12 test

PYTHON ?= python3
SECONDS ?= 300
SEED ?= 1
BIN := .venv/bin

# A ROS 2 sourced in this shell would mix with the one in .venv. It is left alone and not used here;
# to build for it, use colcon (README.md, "With ROS 2 installed").
ifdef AMENT_PREFIX_PATH
$(info make: the sourced ROS 2 $(ROS_DISTRO) is not used here, .venv has its own)
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH PYTHONPATH LD_LIBRARY_PATH
unexport ROS_DISTRO ROS_VERSION ROS_PYTHON_VERSION RMW_IMPLEMENTATION
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint fuzz soak collisions coverage bench bench-peers bench-identification-peers proof \
  papers pictures docs pages clean

help:
	@sed -n 's/^# make/make/p' Makefile

setup:
	@command -v $(PYTHON) > /dev/null || { \
	  echo 'setup: $(PYTHON) is missing. Install with: sudo apt install python3 python3-venv python3-dev'; \
	  exit 2; }
	@$(PYTHON) environment/set_up.py $(PART)

# A whole .venv stays whole; where there is none, only what the demo needs is installed.
demo: PART := --demo
demo: setup
	$(BIN)/robot-dynamics demo

test: lint
	$(BIN)/python -m pytest --require-ros --numprocesses=2 --dist=worksteal $(ARGS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

fuzz: setup
	$(BIN)/python test/fuzz/run.py --seconds $(SECONDS) --seed $(SEED) $(ARGS)

# The loops that numba compiles are counted where Python itself runs them.
coverage: setup
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --require-ros --numprocesses=2 --dist=worksteal $(ARGS)
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -k 'test_recursive and not many_updates' \
	  test/estimation
	$(BIN)/coverage combine --quiet
	$(BIN)/python environment/coverage_table.py

bench: setup
	@for script in benchmark/bench_*.py; do \
	  echo "== $$script"; $(BIN)/python $$script || exit 1; \
	done

# One thread for the linear algebra of every peer: threads are what is compared.
bench-peers: setup
	@$(PYTHON) environment/set_up_tools.py speed
	PYTHONPATH=.:benchmark OPENBLAS_NUM_THREADS=1 .venv-speed/bin/python -m speed $(ARGS)

# The package is taken from this folder; .venv-proof holds only what it needs, and the engines.
proof:
	@$(PYTHON) environment/set_up_tools.py proof
	PYTHONPATH=.:benchmark .venv-proof/bin/python -m proof $(ARGS)

bench-identification-peers:
	@$(PYTHON) environment/set_up_tools.py peers
	PYTHONPATH=.:benchmark OPENBLAS_NUM_THREADS=1 .venv-peers/bin/python -m peers $(ARGS)

papers: setup
	PYTHONPATH=benchmark:test $(BIN)/python -m papers

pictures: setup
	$(BIN)/python environment/make_pictures.py $(ARGS)

# Pages are Markdown in the repository; Sphinx needs neither ROS nor the package.
docs:
	@$(PYTHON) environment/set_up_tools.py docs
	.venv-docs/bin/python -m sphinx -W --keep-going -q -b html docs output/site
	@echo 'output/site/index.html'

pages: setup
	PYTHONPATH=environment $(BIN)/python environment/pages $(ARGS)

collisions: setup
	$(BIN)/python -m pip install --quiet python-fcl==0.7.0.11
	PYTHONPATH=benchmark OPENBLAS_NUM_THREADS=1 $(BIN)/python -m studies.excitation_collisions $(ARGS)

MINUTES ?= 10
soak: setup
	$(BIN)/python test/soak/run.py --minutes $(MINUTES)

clean:
	rm -rf .venv .venv-proof .venv-peers .venv-speed .venv-docs build install log *.egg-info \
	  .hypothesis .mypy_cache .pytest_cache .ruff_cache \
	  .coverage .coverage.* htmlcov
