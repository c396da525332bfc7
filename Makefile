# `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Where scripts/setup puts what the machine lacks.
export PATH := $(CURDIR)/.tools/bin:$(CURDIR)/.tools/rust-tools/bin:$(CURDIR)/.tools/node_modules/.bin:$(CURDIR)/.tools/go/bin:$(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
WEFT := $(TARGET_DIR)/release/weft
CARGO_FLAGS := --locked
FUZZ_SECONDS ?= 60
FUZZ_CI_SECONDS ?= 240
OUT ?= out

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' Makefile

.PHONY: setup setup-build setup-clients
setup: ## install what building and testing need and this machine lacks
	@scripts/setup --tests
setup-build: # without what only tests need
	@scripts/setup
setup-clients: ## install the emulator's optional clients: SIP phones, BitTorrent
	@scripts/setup --clients

# --- the page ----------------------------------------------------------------

WEB_SOURCES := $(shell find web/src web/report/*.* web/public web/index.html web/vite.config.ts web/vite.report.config.ts web/tsconfig.json -type f 2>/dev/null)

.PHONY: web
web: web/dist/index.html web/report/dist/index.html ## build the pages that the program embeds

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	npm --prefix web ci --no-audit --no-fund
	touch $@

web/dist/index.html web/report/dist/index.html &: web/node_modules/.package-lock.json $(WEB_SOURCES)
	npm --prefix web run build
	touch web/dist/index.html web/report/dist/index.html

# --- running -----------------------------------------------------------------

.PHONY: build
build: setup-build
	$(MAKE) web
	cargo build --release $(CARGO_FLAGS) --package weft

.PHONY: demo
demo: build ## the call over two links beside the call over one, at one URL; ARGS="--listen 127.0.0.1:9000"
	$(WEFT) demo $(ARGS)

# --- checking ----------------------------------------------------------------

.PHONY: test
test: setup ## everything that a change has to pass
	$(MAKE) web
	$(MAKE) check-web
	$(MAKE) check-rust
	$(MAKE) e2e
	$(MAKE) check-python
	$(MAKE) check-package

.PHONY: check-web
check-web: web
	npm --prefix web run check
	npm --prefix web test
	npm --prefix web run size

.PHONY: check-rust
check-rust: web
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(CARGO_FLAGS) -- -D warnings
	$(MAKE) check-fuzz
	$(MAKE) deny
	scripts/test-rust $(CARGO_FLAGS)
	$(MAKE) campaign SEEDS=200
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps $(CARGO_FLAGS)

.PHONY: check-fuzz
check-fuzz: # that the fuzz targets compile, without libFuzzer and on stable
	RUSTFLAGS="--cfg fuzzing" cargo clippy --manifest-path fuzz/Cargo.toml \
	  --target-dir $(TARGET_DIR)/fuzz --no-default-features $(CARGO_FLAGS) -- -D warnings

# Thousands of calls in virtual time, drawn from seeds; a failure says how to
# see it again. Optimised, and with the checks of a development build.
SEEDS ?= 10000
PROFILE ?= campaign
STORM := cargo run $(CARGO_FLAGS) --quiet --profile $(PROFILE) --package weft-storm --
.PHONY: campaign
campaign: ## a server under bad networks, crashes and attacks, SEEDS times, and a day of joins
	$(STORM) seeds $(SEEDS)
	$(STORM) day

.PHONY: storm
storm: # ARGS="attacks" PROFILE=release, ARGS="day", ARGS="seeds 1 --from 7 --verbose"
	$(STORM) $(ARGS)

# Twenty minutes of real time, and up to seven until the last is forgotten.
SECONDS_HELD ?= 1200
.PHONY: endurance
endurance: ## joins and leaves at a real server on loopback: memory and descriptors stay; SECONDS_HELD=300 for less
	WEFT_PAGE=placeholder cargo build $(CARGO_FLAGS) --quiet --profile campaign --package weft-server --examples
	$(TARGET_DIR)/campaign/examples/endurance $(SECONDS_HELD)

.PHONY: deny
deny: ## advisories, licences and sources of all libraries
	@scripts/deny

.PHONY: e2e
e2e: web ## page and program together, with a real browser
	cargo build $(CARGO_FLAGS) --package weft
	WEFT_BIN=$(abspath $(TARGET_DIR)/debug/weft) npm --prefix web run e2e

# The program too, because both must give the same bytes.
.PHONY: check-python wheel
check-python: web ## the lab as a Python module, against the program
	cargo build $(CARGO_FLAGS) --package weft
	scripts/test-python
wheel: web ## a wheel of the lab for this machine's kind, in out/wheel
	.tools/python/bin/maturin build --release --locked --manifest-path crates/weft-python/Cargo.toml --out $(OUT)/wheel

# --- packages ----------------------------------------------------------------

.PHONY: package
package: setup-build web ## a .deb and an archive in out/package, tried; ARCH=arm64 where its compiler is here
	scripts/package $(ARCH)
	$(if $(ARCH),,scripts/try-package)

# Whether a package works far from its sources. With the program that the other
# tests have built: a release build takes many times as long as all the rest.
.PHONY: check-package
check-package: web
	cargo build $(CARGO_FLAGS) --package weft
	@command -v dpkg-shlibdeps >/dev/null || { echo "check-package: skipped: no dpkg-shlibdeps (Debian's dpkg-dev)"; exit 0; }; \
	folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; export OUT="$$folder"; \
	scripts/package --binary $(TARGET_DIR)/debug/weft && scripts/try-package

# --- the book ----------------------------------------------------------------

# A build tool, so any version that reads book.toml will do; this one was tried.
MDBOOK_VERSION := 0.5.4

.PHONY: book
book: ## docs/ as pages, in target/book; installs mdbook where it is missing
	@command -v mdbook >/dev/null || cargo install mdbook --version $(MDBOOK_VERSION) --locked --no-default-features --root .tools
	mdbook build --dest-dir $(abspath $(TARGET_DIR))/book
	@echo "book: $(abspath $(TARGET_DIR))/book/index.html"

# --- measuring ---------------------------------------------------------------

.PHONY: bench
bench: web ## the speeds in BENCHMARKING.md
	cargo bench --workspace $(CARGO_FLAGS) --bench "*"

.PHONY: experiments
experiments: build ## the results in BENCHMARKING.md, written to out/
	mkdir -p $(OUT)
	$(WEFT) demo --headless --seconds 60 --json $(OUT)/demo.json
	$(WEFT) lab run demo/ride invariant --out $(OUT)/lab
	scripts/measure-join $(WEFT) 600 | tee $(OUT)/join.txt

# Real time: as long as the scenarios say. Only on a machine that does nothing else.
# What has been run is kept: start it again after an interruption, or with more REPETITIONS.
REPETITIONS ?= 5
REAL ?=
.PHONY: experiments-real
experiments-real: setup build ## real clients in the emulator, hours a REPETITION; REAL="--only gcc" for some; to out/real/
	$(WEFT) lab run campaigns/real-clients.toml --out $(OUT)/real --seeds $(REPETITIONS) $(REAL)

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_SECONDS
	@scripts/fuzz $(FUZZ_SECONDS)

.PHONY: fuzz-ci
fuzz-ci: # all targets, FUZZ_CI_SECONDS of processor time shared by what they can find
	@scripts/fuzz shares $(FUZZ_CI_SECONDS)

.PHONY: clean
clean: ## remove what was built
	cargo clean
	rm -rf web/dist web/report/dist web/node_modules .tools $(OUT)
