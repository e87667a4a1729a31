# make demo   copied passages among real licence texts, as tables and as a page of HTML
# make test   all tests but the long ones
# make wheel  the Python package as a wheel, in target/wheels (needs python3-venv, PyPI)
# make test-long  the long ones, or one part of them: PART=memory (CONTRIBUTING.md has the parts)
# make fuzz   each parser and the functions on inputs without end, SECONDS=60 each (needs a C++ compiler)
# make check  formatting, lints, the features of dependencies, imports in a circle, and the documentation of the code
# make docs   writes the generated pages of docs/ and the output in the README anew
# make bench  the similarity join beside other tools: docs/performance.md (needs python3-venv, apt-get, PyPI; SIZE=poems npm)
# make bench-dedup   duplicates removed, beside other tools: benches/dedup.py (needs python3-venv of Python 3.12, apt-get, PyPI; SIZE=M)
# make bench-pages   passages of web pages with side bars: docs/performance.md (needs apt-get; SETS=documentation for one of three)
# make bench-stream  documents judged one by one: docs/containment.md (needs apt-get)
# make bench-codes  how many candidates codes of sentences leave: docs/codes.md (needs apt-get, npm)
# make bench-gpu  the search by Hamming distance on the processor and on the GPU, beside what these can do at most: docs/gpu.md
# make bench-cluster  a cluster beside one process: docs/cluster.md (needs apt-get; SETS=M,L, or PAGES=2000,20000,200000 for its growth)
# make ci     check, demo and test
#
# Each sets up what it needs. Needed before: rustup (or cargo), a C compiler, make.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build demo test wheel test-long fuzz check docs bench bench-dedup bench-pages bench-stream bench-codes bench-gpu bench-cluster ci

# Where rustup puts cargo, for shells that were started before it did.
export PATH := $(PATH):$(HOME)/.cargo/bin

help:
	@sed -n 's/^# make/make/p' Makefile

# The program alone, with the features of dependencies that the tests want, too: nothing is compiled twice.
build:
	cargo build -p ibid-cli -p workspace-hack

# The program that `build` made, wherever cargo puts it on this machine.
TARGET = $$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
IBID = "$(TARGET)/debug/ibid"

demo: build
	@IBID=$(IBID) data/licenses/demo

# Twice as many tests at a time as there are processors: many wait for stores, disks and the ends of processes. The server that the
# tests start is a program of its own.
test:
	cargo build --workspace
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$((2 * $$(getconf _NPROCESSORS_ONLN)))} cargo test --workspace
	python/test
	tests/report/test

wheel:
	python/wheel

test-long:
	cargo build --workspace
	tests/long $(PART)

fuzz: SECONDS = 60
fuzz:
	fuzz/run $(SECONDS)

check:
	cargo fmt --all --check
	workspace-hack/check
	tests/imports
	cargo clippy --workspace --all-targets -- -D warnings
	@# With --examples the documentation is built with the same features of the dependencies as the lints before.
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --lib --examples

docs:
	cargo build --workspace
	IBID_BLESS=1 cargo test --workspace -- reference::
	IBID_BLESS=1 python/test -k test_documentation

bench: SIZE ?= M
bench:
	cargo build --release
	benches/run --ibid "$(TARGET)/release/ibid" --size "$(SIZE)" --record

# Only whole runs of size L are kept.
bench-dedup: SIZE ?= L
bench-dedup:
	cargo build --release
	benches/run dedup --ibid "$(TARGET)/release/ibid" --size "$(SIZE)" $(if $(filter L,$(SIZE)),--record)

bench-pages: SETS ?= documentation,generated,all
bench-pages:
	cargo build --release
	python3 benches/pages.py --ibid "$(TARGET)/release/ibid" --sets "$(SETS)"

bench-stream:
	cargo build --release
	python3 benches/stream.py --ibid "$(TARGET)/release/ibid"

bench-codes:
	cargo build --release
	python3 benches/codes.py --ibid "$(TARGET)/release/ibid"

bench-gpu:
	cargo run --release -p ibid-gpu --bin ibid-gpu-bench

bench-cluster: SETS ?= M
bench-cluster:
	cargo build --release -p ibid-cli -p ibid-cluster -p workspace-hack
	python3 benches/cluster.py --bin "$(TARGET)/release" $(if $(PAGES),--pages "$(PAGES)",--sets "$(SETS)")

ci:
	.ci/run
