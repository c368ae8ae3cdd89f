# Everything starts here: `make` alone lists the targets.
PYTHON ?= python3
ARGS ?=
BOOTSTRAP = $(PYTHON) tools/bootstrap.py
VENV_PYTHON = .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help lab doctor bundle test setup lock fmt notebooks exercises recordings matrix slides cheatsheet bench soak clean python

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

python:
	@command -v $(PYTHON) >/dev/null || { echo "wmviz: there is no $(PYTHON) on this machine: install Python 3.10, 3.11 or 3.12, or name one with PYTHON=/path/to/python3." >&2; exit 1; }

lab: python ## open the course in JupyterLab (ARGS="--no-browser --port 8890")
	@$(BOOTSTRAP) lab $(ARGS)

doctor: python ## say whether this machine is ready for the course (ARGS="--run" starts Flink too)
	@if test -x $(VENV_PYTHON); then $(VENV_PYTHON) wmviz/doctor $(ARGS); else $(PYTHON) wmviz/doctor $(ARGS); fi

bundle: setup ## make a bundle for machines without a network (ARGS="--with-python" brings Python too)
	$(VENV_PYTHON) tools/bundle.py $(ARGS)

test: python ## run every check and test (ARGS="-m 'not flink'")
	@$(BOOTSTRAP) test $(ARGS)

setup: python ## create or renew .venv from requirements.lock
	@$(BOOTSTRAP) setup

lock: python ## compile requirements.lock again (ARGS="--upgrade" for newer versions)
	@$(BOOTSTRAP) lock $(ARGS)

fmt: setup ## format the code and mend what ruff can
	$(VENV_PYTHON) -m ruff check --fix .
	$(VENV_PYTHON) -m ruff format .

notebooks: setup ## run the lessons and solutions again and normalise them
	$(VENV_PYTHON) tools/notebooks.py run $(ARGS)

exercises: setup ## make exercises/ from solutions/
	$(VENV_PYTHON) tools/notebooks.py exercises

recordings: setup ## record on real Flink what machines without PyFlink show
	$(VENV_PYTHON) -m wmviz.flink.record notebooks/*.ipynb solutions/*.ipynb

matrix: setup ## run the catalogue on both engines and write docs/comparison.md
	$(VENV_PYTHON) tools/matrix.py

slides: setup ## write the slides of the workshop to dist/slides/; they need no network
	$(VENV_PYTHON) tools/slides.py

cheatsheet: setup ## write docs/cheat-sheet.html, one page to print
	$(VENV_PYTHON) tools/cheatsheet.py

bench: setup ## measure, as ratios within one run
	$(VENV_PYTHON) -m benchmarks $(ARGS)

soak: setup ## compare many more random scenarios on both engines; run those of the wall clock 30 times; play a stage for ten minutes; install the bundle without a network
	$(VENV_PYTHON) -m benchmarks.soak $(ARGS)
	$(VENV_PYTHON) -m benchmarks.soak_clock
	$(VENV_PYTHON) -m benchmarks.stage_soak
	$(VENV_PYTHON) -m benchmarks.offline

clean: ## remove the environment and all caches
	rm -rf .venv .uv .python .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist setup.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
