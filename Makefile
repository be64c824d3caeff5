# The two commands of the README are `make demo` and `make test`; the rest is for those who work on Tribo.
# CMakeLists.txt and CMakePresets.json hold the real build.
JOBS ?= $(shell nproc)
# A line per compiled file: each takes a process.
MESSAGES ?= ON

.PHONY: build demo page python test test-all golden bench wasm docs scenes format fuzz setup clean

build: setup
	@cmake --preset release -DCMAKE_RULE_MESSAGES=$(MESSAGES) >build-release.log 2>&1 || { cat build-release.log; exit 1; }
	@rm -f build-release.log
	@cmake --build --preset release -j $(JOBS) -- --no-print-directory

demo:
	@JOBS=$(JOBS) scripts/demo

# The page, with the library as wasm in it: viewer/dist/index.html.
page: wasm
	@viewer/build

# The Python package, build/python/tribo, and its tests; `pip install .` puts it where Python looks.
python: build
	@scripts/setup --python
	@test/python/run

# test/run builds for the sanitizers and, where emscripten, npm and Chromium are there, for the page, beside the tests.
test test-all: MESSAGES = OFF
test: build
	@scripts/setup --test
	@JOBS=$(JOBS) test/run

# What takes too long for every day: sweeps in full length under the sanitizers, threads, compilers, fuzzers. An hour or so.
test-all: build
	@scripts/setup --test
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan -j $(JOBS) --target tribo_tests -- --no-print-directory
	@JOBS=$(JOBS) test/run --all

bench: setup
	@scripts/setup --bench
	@cmake --preset bench >/dev/null
	@cmake --build --preset bench -j $(JOBS) -- --no-print-directory
	@bench/run

# The library for the page: build-wasm/viewer/wasm/tribo.wasm.
wasm:
	@scripts/setup --page
	@cmake --preset wasm >/dev/null
	@cmake --build --preset wasm -j $(JOBS) -- --no-print-directory

# What is written from the table of the scene format.
docs: build
	@build/tribo schema > docs/scene.schema.json
	@sed -i '/^<!-- from here to the end/q' docs/scene-format.md
	@{ echo; build/tribo schema --keys; } >> docs/scene-format.md

# What the gallery makes of its defaults.
scenes: build
	@for name in $$(build/tribo scene | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p'); do \
	  build/tribo scene $$name -o scenes/$$name.json || exit 1; done

# The states and pictures that test/determinism/test_golden*.c, test_real_time.c and test/render/test_golden_pictures.c expect, as they are now.
golden: build
	@TRIBO_WRITE_GOLDEN=1 build/tribo_tests are_written_down

# Formats the C files, and gives new source files their SPDX line.
format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i
	@for file in $$(git ls-files '*.c' '*.h' '*.js'); do \
	  head -2 $$file | grep -q '^// SPDX-License' || sed -i '1i // SPDX-License-Identifier: Apache-2.0' $$file; done

fuzz:
	@scripts/fuzz 60

setup:
	@scripts/setup

clean:
	rm -rf build build-* out viewer/dist
