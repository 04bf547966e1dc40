# Two commands: `make figures` and `make test`. Each builds .venv from the pinned requirements if it is missing.
PYTHON ?= python3
BIN := .venv/bin
MIRROR ?=
ENCODER ?=
# one line of progress; make figures PROGRESS= shows all that Snakemake says
PROGRESS := --logger tunescope
SNAKEMAKE := $(BIN)/snakemake --cores all $(PROGRESS)

.PHONY: figures test laptop plan rehearse bench lint format report rulegraph docs demo-docs performance encoders clean

figures: .venv/ready
	$(SNAKEMAKE)

# PYTEST: options of pytest, such as make test PYTEST=tests/papers
test: .venv/ready lint
	$(BIN)/python -m pytest $(PYTEST)

# Real data and a small real encoder; see docs/laptop.md
comma := ,
ENCODER_CONFIG = encoders={small: {path: '$(ENCODER)'$(comma) published_as: null$(if $(ENCODER_NOTE),$(comma) note: '$(ENCODER_NOTE)')}}
laptop: .venv/ready
	$(SNAKEMAKE) --configfile config/laptop.yaml \
		$(if $(MIRROR)$(ENCODER),--config $(if $(MIRROR),mirror=$(MIRROR)) $(if $(ENCODER),"$(ENCODER_CONFIG)"))

# What a run will take, before anything runs: make plan, make plan PRESET=config/paper.yaml
plan: .venv/ready
	@$(BIN)/python -m workflow.lib.costs.table $(PRESET) $(SET)

# The paper preset itself, on few rows, against a stand-in Hub: make rehearse, make rehearse QUICK=1 (what CI runs), MIRROR=<folder>
rehearse: .venv/ready
	$(BIN)/python -m tests.rehearsal.run $(if $(QUICK),--quick) $(if $(MIRROR),--mirror $(MIRROR))

bench: .venv/ready
	$(BIN)/python -m tests.benchmarks.run

# Snakemake's own report of a finished run: make report, make report PRESET=config/laptop.yaml
report: .venv/ready
	$(BIN)/snakemake --report results/report.zip $(if $(PRESET),--configfile $(PRESET))

# The rules as a picture (needs Graphviz's dot), each once however many share a process: docs/rulegraph.svg
rulegraph: .venv/ready
	$(BIN)/snakemake --config 'share={models: 1, sweeps: 1, activations: 1, analyses: 1}' --rulegraph dot -- all | dot -Tsvg -o docs/rulegraph.svg

# The encoders that come with the workflow, trained anew (an hour and a half on two cores) and stored in workflow/resources/encoders
LANGUAGE ?= 4
SHIPPED = base.0 base.1 base.2 base.3 base.4 demo_small.0 demo_tiny.0
encoders: .venv/ready
	$(SNAKEMAKE) --configfile config/encoders.yaml --config language=$(LANGUAGE) -- $(SHIPPED:%=results/encoders/encoders/%)
	$(BIN)/python -m workflow.lib.encoders.shipping results/encoders $(LANGUAGE)

# The tables of config/README.md, from the schemas, those of the papers' claims, from their claims.yaml, and docs/methods.md
docs: .venv/ready
	$(BIN)/python -m workflow.lib.base.config_docs
	$(BIN)/python -m workflow.lib.base.claims_docs
	$(BIN)/python -m workflow.lib.base.methods_docs

# docs/demo.md, docs/figures.md and the gallery, from results/demo
demo-docs: .venv/ready
	$(BIN)/python -m workflow.lib.base.demo_docs

# docs/performance.md and its picture, from the benchmark files and logs of results/demo
performance: .venv/ready
	$(BIN)/python -m workflow.lib.base.performance

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

.venv/ready: envs/requirements.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r envs/requirements.txt
	@# Snakemake finds its plugins among what is on the path
	echo "$(CURDIR)/workflow/progress" > "$$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')/tunescope.pth"
	touch $@

clean:
	rm -rf results/*/ .snakemake
