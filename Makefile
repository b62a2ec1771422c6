# Two commands: `make demo` shows it working, `make test` proves it. `make help` lists the rest.
SHELL := bash
.ONESHELL:
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
# A stack has many processes, and tests start many stacks: none compiles all modules again, as some containers ask for.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VERSION := 0.2.0
BIN := .venv/bin
STAMPS := .cache/stamps
AGENT := agents/bin/downlink-agent
# The agent of this machine above; those that a server offers to other hosts.
AGENTS := agents/bin/downlink-agent-linux-amd64 agents/bin/downlink-agent-linux-arm64
# Made, not committed: the contract in the tree is frontend/src/api/schema.d.ts.
API_DOCUMENT := backend/openapi.json
# The S3 server of tests and benchmarks, from source: two minutes the first time.
S3_SERVER := $(STAMPS)/versitygw
# The OpenID provider of tests, from npm, in a folder of its own.
OIDC_PROVIDER := backend/tests/oidc/node_modules/.package-lock.json
# Makes the agent's Debian packages.
NFPM := $(STAMPS)/nfpm
# Checks the Kubernetes manifests, by schemas that a package ships.
KUBECONFORM := $(STAMPS)/kubeconform
# Programs from source, each a module with the sums of all that it is built of.
PINNED := agents/tools/pinned
PYTEST := $(BIN)/python -m pytest -q -p no:cacheprovider
# The launcher ends, tidily, when make itself is killed.
LAUNCH := exec setpriv --pdeathsig TERM $(BIN)/downlink stack
# The study beside the product: backend/study.
STUDY := PYTHONPATH=backend $(BIN)/python -m study
RUN_STUDY = export PYTHONPATH=backend; exec setpriv --pdeathsig TERM $(BIN)/python -m study run
# Steps run side by side, with a line and a log each: .cache/steps/NAME.log. NAME[:AFTER][~SECONDS of its bar][!]=COMMAND.
STEPS := exec setpriv --pdeathsig TERM $(PYTHON) backend/tools/run_steps.py
STEP_PYTHON := 'python~30=$(MAKE) $(STAMPS)/python'
STEP_DASHBOARD := 'dashboard~45=$(MAKE) frontend/dist/index.html'
STEP_AGENT := 'agent~80=nice -n 5 $(MAKE) $(AGENT)'
STEP_AGENTS := 'agents~120=$(MAKE) $(AGENTS)'
DEMO = $(STEPS) $(STEP_PYTHON) $(STEP_DASHBOARD) $(STEP_AGENT) \
  'demo:python,dashboard!=exec $(BIN)/downlink stack demo --agent-build .cache/steps/agent.log $(1) $(if $(PORT),--port $(PORT))'

PYTHON_SOURCES := $(shell find backend/downlink -name '*.py' 2>/dev/null)
GO_SOURCES := $(shell find agents -path agents/bin -prune -o -type f -print 2>/dev/null)
WEB_SOURCES := $(shell find frontend/src frontend/public frontend/index.html frontend/vite.config.ts frontend/tsconfig.json -type f 2>/dev/null)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## ---- run

# The stack starts once Python and the dashboard are there, and the agent joins when it is built.
.PHONY: demo
demo: tools ## Everything at once: stack, emulated links, agents, a campaign over GEO and one of INTCP (DEMO_EXIT=1: end with them; PORT=8400)
	@$(call DEMO)

.PHONY: demo-intcp
demo-intcp: tools ## INTCP alone: Reno, split TCP and INTCP over a satellite hop that switches its rate
	@$(call DEMO,--home .demo/intcp --campaign docs/examples/intcp-taste.yaml)

.PHONY: study-controls
study-controls: install ## As root, 45 minutes: every congestion control over GEO, five cycles; its table goes into docs/controls/study.md
	@export DEMO_EXIT=1
	$(LAUNCH) demo --home .demo/study --campaign docs/examples/study-controls.yaml --table docs/controls/study.md

# One of them: make study-000, study-001, study-002, study-003, study-004, study-checks. Of causes, not of papers: make study-bbr.
STUDIES := 000 001 002 003 checks
CAUSES := bbr
# Paper 004's figures.
FIGURE := 5a 5b 5c 6-low 6-high 6-day 7 parts several buffers

.PHONY: studies
studies: install ## As root, four hours on a quiet machine: the studies of docs/reproduction but 004, or one (make study-000). FULL=1: the papers' n. Ctrl-C and again: goes on
	@$(RUN_STUDY) $(STUDIES) $(if $(FULL),--full)

.PHONY: $(STUDIES:%=study-%) $(CAUSES:%=study-%)
$(STUDIES:%=study-%) $(CAUSES:%=study-%): study-%: install
	@$(RUN_STUDY) $* $(if $(FULL),--full)

.PHONY: study-intcp study-004 $(FIGURE:%=study-004-%)
study-intcp: $(FIGURE:%=study-004-%) ## As root, 15 to 105 minutes each: figures of paper 004 (FIGURE=5a). FULL=1 and Ctrl-C as with studies

$(FIGURE:%=study-004-%): study-%: install
	@$(RUN_STUDY) $* $(if $(FULL),--full)

study-004: study-intcp

.PHONY: reproduction
reproduction: $(STAMPS)/python ## Write docs/reproduction: published values beside those of the studies' archives; what the archives say of missed values and where nothing is published; and the table of docs/controls/bbr-beside-cubic.md
	$(STUDY) reproduction
	$(STUDY) causes
	$(STUDY) checks
	$(STUDY) intcp
	$(STUDY) pair-table docs/controls/bbr-beside-cubic.md

.PHONY: archives
archives: ## Take the studies' raw archives (140 MB) from git's history into docs/reproduction/archives: those that are missing
	@PYTHONPATH=backend $(PYTHON) -m study.archives

.PHONY: causes
causes: ## Half an hour: docs/reproduction/causes-modelled.md, variants of links, windows and senders in virtual time beside published values (SECTION=leo: print one)
	cd agents && go run ./study $(if $(SECTION),--section $(SECTION),--into ../docs/reproduction/causes-modelled.md)

.PHONY: up
up: install ## The stack alone: servers, api with dashboard, conductor, worker (PORT=8400)
	@$(LAUNCH) up $(if $(PORT),--port $(PORT))

.PHONY: seed
seed: install ## Load the recorded example campaign into a running stack's database (DOWNLINK_DATABASE_URL)
	$(BIN)/downlink seed docs/examples/recorded-hystart.zip

.PHONY: gallery
gallery: install packages ## Write docs/gallery: every page, light and dark, wide and narrow, of a stack that it fills and stops again (20 minutes)
	cd frontend && node e2e/gallery.mjs --into ../docs/gallery

## ---- install into the checkout

.PHONY: install
install: tools ## Python, Node and Go parts side by side, each only when its sources changed; the agent for amd64 and arm64
	@$(MAKE) --question $(STAMPS)/python frontend/dist/index.html $(AGENTS) && exit
	$(STEPS) $(STEP_PYTHON) $(STEP_DASHBOARD) $(STEP_AGENTS)

.PHONY: tools
tools:
	@missing() { echo "$$1 is missing. $$2" >&2; exit 1; }
	command -v $(PYTHON) >/dev/null || missing "Python 3.11 or newer" "On Debian: apt-get install python3 python3-venv"
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || missing "Python 3.11 or newer" "Name one: make PYTHON=python3.11 …"
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || missing "Python's venv" "On Debian: apt-get install python3-venv"
	command -v go >/dev/null || missing "Go 1.26" "https://go.dev/doc/install says how to get it"
	command -v npm >/dev/null || missing "Node 20 with npm" "https://nodejs.org says how to get it"
	command -v setpriv >/dev/null && command -v unshare >/dev/null || missing "util-linux" "On Debian: apt-get install util-linux"

# uv takes a tenth of pip's time for the same lock. pip does it where uv cannot be had, or pip was told of another index: uv asks
# its own settings. What the stack loads is compiled once, here, not by each of its processes at the first start.
$(STAMPS)/python: backend/requirements.lock backend/requirements-uv.lock backend/pyproject.toml
	@mkdir -p $(STAMPS)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	installed() {
	  "$$@" install -q --require-hashes -r backend/requirements.lock &&
	  PYTHONWARNINGS=ignore "$$@" install -q --no-deps --no-build-isolation -e backend
	}
	by_uv() {
	  ! $(BIN)/python -m pip config list | grep -E 'index-url|no-index' >/dev/null &&
	  $(BIN)/python -m pip install -q --require-hashes --upgrade --target .cache/uv -r backend/requirements-uv.lock &&
	  VIRTUAL_ENV=$(CURDIR)/.venv installed .cache/uv/bin/uv pip
	}
	by_uv || installed $(BIN)/python -m pip
	$(BIN)/python -c 'import downlink.api.server, downlink.jobs.conduct, downlink.jobs.worker, downlink.storage.migrate'
	touch $@

frontend/node_modules/.package-lock.json: frontend/package-lock.json
	# Not npm ci: it refuses a lock without the optional binaries of other platforms, which not every registry mirror has.
	npm --prefix frontend install --ignore-scripts --no-save --no-audit --no-fund --loglevel=error
	touch $@

frontend/dist/index.html: frontend/node_modules/.package-lock.json $(WEB_SOURCES)
	npm --prefix frontend run build --silent -- --logLevel warn
	touch $@

$(AGENT): $(GO_SOURCES)
	$(MAKE) -C agents build VERSION=$(VERSION) ARCHES=host

$(AGENTS) &: $(GO_SOURCES)
	$(MAKE) -C agents build VERSION=$(VERSION)

.PHONY: agent-packages
agent-packages: $(AGENTS) $(NFPM) ## Debian packages and tarballs of the agent, for amd64 and arm64, with checksums, into agents/bin/packages
	@$(MAKE) -C agents packages VERSION=$(VERSION)

$(NFPM) $(KUBECONFORM) $(S3_SERVER): $(STAMPS)/%: $(PINNED)/%/go.sum
	@mkdir -p $(STAMPS)
	GOBIN=$(CURDIR)/.cache/bin CGO_ENABLED=0 GOFLAGS=-trimpath go -C $(PINNED)/$* install -ldflags '-s -w' tool
	touch $@

$(STAMPS)/kubernetes: backend/requirements-kubernetes.lock $(STAMPS)/python
	rm -rf .cache/kubernetes
	$(BIN)/python -m pip install -q --require-hashes --no-deps --target .cache/kubernetes -r backend/requirements-kubernetes.lock
	touch $@

## ---- prove

PROOF := @exec $(PYTHON) backend/tools/proof.py
LONG := kernel faults stack packages long

.PHONY: test
test: tools ## The quick proof, of backend, agents, dashboard and (as root) a small real stack; installs what it needs (ONLY=backend: one part; SEED=7: another draw)
	$(PROOF) test $(if $(ONLY),--only $(ONLY)) $(if $(SEED),--seed $(SEED))

.PHONY: test-busy
test-busy: tools ## The quick proof with four busy loops beside it: nothing of it may depend on how fast the machine is
	$(PROOF) test --busy 4

.PHONY: verify
verify: tools ## As root, at most 70 minutes on two cores: the long proof, what a release needs; its parts follow, and have the same options
	$(PROOF) $(LONG) $(if $(SEED),--seed $(SEED))

.PHONY: verify-kernel verify-faults verify-stack verify-packages verify-long verify-sample
verify-kernel: ## Congestion controls, namespaces, the proxy, time stamps, rates of real kernels
verify-faults: ## Kills, chaos, a fleet, a day, two of each process; large tables whole
verify-stack: ## Real stacks: demos, relays, journeys in a browser
verify-packages: ## Debian packages, compose, Kubernetes, alert rules, an S3 store, sign-in by a provider
verify-long: ## Soak, an idle tab, outages
verify-sample: ## At most 15 minutes: a fifth of the long proof, drawn by the commit, without what measures rates or milliseconds
$(LONG:%=verify-%) verify-sample: verify-%: tools
	$(PROOF) $* $(if $(SEED),--seed $(SEED))

.PHONY: verify-tools
verify-tools: install packages $(S3_SERVER) $(OIDC_PROVIDER) $(NFPM) $(KUBECONFORM) $(STAMPS)/kubernetes

.PHONY: chaos
chaos: install packages $(S3_SERVER) ## As root, hours: N=1000 schedules of faults in virtual time and N/50 over real parts, a table; then the whole server away, the link down for five minutes, and two of each process killed in turn (SEED=1)
	CHAOS_SEED=$(or $(SEED),1) CHAOS_N=$(or $(N),1000) $(PYTEST) -n 2 --dist load --verify faults backend/tests/actions/test_chaos.py
	CHAOS_SEED=$(or $(SEED),1) CHAOS_REAL=$$(( ($(or $(N),1000) + 49) / 50 )) $(PYTEST) --verify faults backend/tests/system/test_chaos.py
	DOWNLINK_OUTAGE_S=180 DOWNLINK_LINK_S=300 $(PYTEST) --verify long backend/tests/system/test_outages.py
	DOWNLINK_CHAOS_S=180 $(PYTEST) -s --verify faults backend/tests/system/test_two_of_each.py

.PHONY: fuzz
fuzz: $(STAMPS)/python ## Forty minutes: mutants of good input for 30 s (FUZZ_S) with every decoder of bytes from elsewhere, in Python and Go (FUZZ_SEED=1)
	FUZZ_S=$(or $(FUZZ_S),30) FUZZ_SEED=$(or $(FUZZ_SEED),1) $(PYTEST) -rP backend/tests/fuzz
	$(MAKE) -C agents fuzz FUZZ_S=$(or $(FUZZ_S),30)

.PHONY: lint
lint: lint-backend lint-agents lint-frontend ## Style, types, import contracts, of all three parts

.PHONY: lint-backend
lint-backend: $(STAMPS)/python
	cd backend
	for check in "ruff check -q" "ruff format -q --check" "mypy" "lint-imports" "deptry downlink"; do echo "$$check"; ../$(BIN)/$$check; done

$(API_DOCUMENT): $(STAMPS)/python $(PYTHON_SOURCES) backend/downlink/domain/quantities.csv
	$(BIN)/downlink openapi > $@

.PHONY: lint-agents
lint-agents:
	$(MAKE) -C agents lint

.PHONY: lint-frontend
lint-frontend: frontend/node_modules/.package-lock.json $(API_DOCUMENT)
	cd frontend && npm run lint --silent

.PHONY: soak
soak: install packages ## As root, 35 minutes, or HOURS=24: everything left running, each process killed once; fails when memory, descriptors or requests grow
	SOAK_S=$$(awk 'BEGIN {print 3600 * $(or $(HOURS),0.5)}') $(PYTEST) -s --verify long backend/tests/system/test_soak.py

.PHONY: day
day: $(STAMPS)/python ## Half an hour: 24 hours of two links with 213 GEO and 131 LEO runs on a fast clock, under faults; memory and descriptors (SEED=1)
	DAY_HOURS=24 CHAOS_SEED=$(or $(SEED),1) $(PYTEST) -s --show-capture=no --verify faults backend/tests/actions/test_day.py

.PHONY: idle
idle: install packages ## Six minutes: what a tab left open costs a server with a past, in requests and processor time, over five of them
	DOWNLINK_IDLE_S=300 $(PYTEST) -s --verify long backend/tests/system/test_built_dashboard.py -k idle

.PHONY: fleet
fleet: $(STAMPS)/python ## An hour: 24 hours of 1,000 agents and ten campaigns on a fast clock; every run ends, nothing grows
	FLEET_AGENTS=1000 FLEET_HOURS=24 $(PYTEST) -s --show-capture=no --verify faults backend/tests/actions/test_fleet.py

.PHONY: calibrate
calibrate: ## A link profile's statistics beside their targets, in virtual time (PROFILE=geo-viasat; FLOWS=30; DOWNLOADS=10; WINDOW=30, in MB; TRACE=FILE: beside a recorded flow; FIT=500: repeat the fit)
	cd agents && go run ./cmd/calibrate $(if $(FLOWS),--flows $(FLOWS)) $(if $(DOWNLOADS),--downloads $(DOWNLOADS)) $(if $(WINDOW),--window $(WINDOW)) $(if $(TRACE),--trace '$(abspath $(TRACE))') $(if $(FIT),--fit $(FIT)) $(or $(PROFILE),geo-viasat)

.PHONY: bench
bench: install packages $(S3_SERVER) ## Every benchmark, one table with goals (BENCH_JSON=FILE: as JSON too; BENCH_STRICT=1: fail when a goal is missed)
	@export BENCH_JSON='$(if $(BENCH_JSON),$(abspath $(BENCH_JSON)))' BENCH_STRICT='$(BENCH_STRICT)'
	cd backend
	../$(BIN)/python -m bench.all

# Debian packages as program:package. RUNLEVEL=1 keeps apt from starting their services.
TEST_PACKAGES := gcc:gcc,libc6-dev chromium:chromium
PACKAGES := $(TEST_PACKAGES) iperf3:iperf3 clang:clang llvm-strip:llvm redis-server:redis-server pg_lsclusters:postgresql promtool:prometheus caddy:caddy docker-compose:docker-compose pdftotext:poppler-utils systemd-analyze:systemd nft:nftables

define install-packages
missing=""
for pair in $(1); do command -v "$${pair%%:*}" >/dev/null || missing+=" $${pair##*:}"; done
missing=$${missing//,/ }
[ -z "$$missing" ] && exit 0
if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then echo "This needs$$missing. Type: sudo apt-get install$$missing" >&2; exit $(2); fi
apt-get update -q && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$missing
endef

.PHONY: packages test-packages
packages: ; @$(call install-packages,$(PACKAGES),1)
# The quick proof does without, and says what it left out.
test-packages: ; @$(call install-packages,$(TEST_PACKAGES),0)

$(OIDC_PROVIDER): backend/tests/oidc/package-lock.json
	npm --prefix backend/tests/oidc install --ignore-scripts --no-save --no-audit --no-fund --loglevel=error
	touch $@

## ---- keep

.PHONY: locks
locks: ## Write both Python locks anew from backend/pyproject.toml (needs uv)
	@command -v uv >/dev/null || { echo "uv is missing. Type: pip install uv" >&2; exit 1; }
	cd backend
	# For the oldest Python: what only that one needs is locked too.
	uv pip compile -q --generate-hashes --no-emit-index-url --python-version 3.11 --extra dev pyproject.toml -o requirements.lock
	uv pip compile -q --generate-hashes --no-emit-index-url --python-version 3.11 --extra build -c requirements.lock pyproject.toml -o requirements-server.lock

.PHONY: audit
audit: $(STAMPS)/python $(STAMPS)/audit frontend/node_modules/.package-lock.json ## Known weaknesses of every dependency, by the advisory services that can be reached
	@$(BIN)/python backend/tools/audit.py

$(STAMPS)/audit: backend/requirements-audit.lock
	@mkdir -p $(STAMPS)
	$(PYTHON) -m venv .cache/audit
	.cache/audit/bin/python -m pip install -q --require-hashes -r backend/requirements-audit.lock
	touch $@

.PHONY: house
house: $(STAMPS)/python ## Draw docs/house.svg again: rooms, floors and arrows from the imports of backend and agents
	@$(BIN)/python backend/tools/house.py

.PHONY: mutants-agents
mutants-agents: ## Would the agents' tests notice? Like make mutants, in emulate, tcpinfo and settings
	$(MAKE) -C agents mutants N=$(or $(N),100) SEED=$(or $(SEED),1)

# Cosmic Ray has an environment of its own, so that the project's holds nothing that only this needs.
.PHONY: mutants
mutants: $(STAMPS)/python $(STAMPS)/mutants ## Would the tests notice? N=100 changes of one token in domain, analysis and codec, drawn by SEED=1
	@.cache/mutants/bin/python backend/tools/mutants.py --number $(or $(N),100) --seed $(or $(SEED),1) --python $(BIN)/python $(if $(ONLY),--only $(ONLY))

$(STAMPS)/mutants: backend/requirements-mutants.lock
	@mkdir -p $(STAMPS)
	$(PYTHON) -m venv .cache/mutants
	.cache/mutants/bin/python -m pip install -q --require-hashes -r backend/requirements-mutants.lock
	touch $@

## ---- tidy

.PHONY: clean
clean: ## Remove what was installed and built; data in .demo stays
	rm -rf .venv .cache agents/bin frontend/node_modules frontend/dist backend/tests/oidc/node_modules backend/build backend/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
