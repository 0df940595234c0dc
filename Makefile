# SPDX-License-Identifier: MIT
#
# A thin front to CMake.  `make demo` and `make check` install what is missing and do the rest.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SECONDS ?= 60
# ninja, where it is, needs a tenth less time; a folder goes on with what it was begun with.
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja 2>/dev/null),Ninja,Unix Makefiles)
BUILD = cmake --preset $(1) -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DHEDDLE_TESTS=ON $(2) $(CMAKE_ARGS) >/dev/null \
        && cmake --build --preset $(1) -j $(JOBS)
# A step of `make check`, after which scripts/check tells how long it took: name, command.
STEP = begin=$$(date +%s) && $(2) && printf '%s\t%d\n' $(1) $$(($$(date +%s) - begin)) >>build/steps
# What tells that there are GPUs in this machine, or nothing.
NVIDIA = $(shell nvidia-smi -L 2>/dev/null)
ROCM = $(wildcard /opt/rocm/bin/rocm_agent_enumerator)
# Kernels for which GPUs, ARCHS=all, native or none: what is installed serves all from the A100 on, unless the
# caller says otherwise; for the tests an architecture of each vendor does and, without a GPU, one variant for
# each, so that every type occurs; for the demo, which is about the CPU, those of this machine, so that a
# first look does not wait for hundreds of kernels.
ARCHS ?= all
ARCHS_all = -DHEDDLE_CUDA_COMPILER=auto -DHEDDLE_HIP_COMPILER=auto "-DHEDDLE_CUDA_ARCH=80;90" \
            -UHEDDLE_HIP_ARCH -UHEDDLE_DEVICE_VARIANTS
VARIANTS_one = sm_90:f64_i32;ptx:f64_i32;gfx942:f32_o64
ARCHS_one = -DHEDDLE_CUDA_COMPILER=auto -DHEDDLE_HIP_COMPILER=auto -DHEDDLE_CUDA_ARCH=90 \
            -DHEDDLE_HIP_ARCH=gfx942 \
            $(if $(NVIDIA),-UHEDDLE_DEVICE_VARIANTS,"-DHEDDLE_DEVICE_VARIANTS=$(VARIANTS_one)")
ARCHS_native = \
  $(if $(NVIDIA),-DHEDDLE_CUDA_COMPILER=auto -DHEDDLE_CUDA_ARCH=native,-DHEDDLE_CUDA_COMPILER=none) \
  $(if $(ROCM),-DHEDDLE_HIP_COMPILER=auto -DHEDDLE_HIP_ARCH=native,-DHEDDLE_HIP_COMPILER=none)
ARCHS_none = -DHEDDLE_CUDA_COMPILER=none -DHEDDLE_HIP_COMPILER=none
$(if $(filter $(ARCHS),all native none),,$(error ARCHS=$(ARCHS): must be all, native or none))

.PHONY: help setup build demo check check-full bench install deb python python-docs coverage fuzz clean

help:
	@echo "make demo        build, multiply small matrices with every kernel: a line each, a page with all runs"
	@echo "make check       build and run all tests, also under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make check-full  the same with every type, architecture and size, under ThreadSanitizer as well,"
	@echo "                 reports in a browser, packages in a new Debian, planted bugs, fuzzing"
	@echo "make bench       time every kernel over set:paper on this machine (CPU), records in bench.jsonl"
	@echo "make install     build and install under PREFIX ($(PREFIX)); ARCHS=native: kernels for this machine's"
	@echo "                 GPUs alone; none: for none"
	@echo "make deb         Debian packages of library, development files and command in build/packages;"
	@echo "                 ARCHS as for install"
	@echo "make python      the Python package: a wheel in build/wheels, tested in a new environment"
	@echo "make python-docs the reference of the Python package, in build/python-docs"
	@echo "make coverage    statement coverage of the tests, per folder"
	@echo "make fuzz        fuzz the file readers and the API, SECONDS=$(SECONDS) each"
	@echo "make clean       remove everything that was built"

setup:
	@scripts/setup build report

# Who builds, installs or packages is told what is missing; only the demo and the tests install it.
build:
	@scripts/setup --no-install build report
	@$(call BUILD,release,$(ARCHS_$(ARCHS)))

demo: QUIETLY = >build/demo.log 2>&1 || { tail -n 30 build/demo.log; exit 1; }
demo: setup
	@echo "building (what the build says goes to build/demo.log)" && mkdir -p build
	@{ $(call BUILD,release,$(ARCHS_native) -DHEDDLE_TESTS=OFF); } $(QUIETLY)
	@scripts/demo build

check:
	@scripts/setup build device check
	@rm -f build/steps
	@$(call STEP,release,$(call BUILD,release,$(ARCHS_one) -DHEDDLE_SPILLS=error))
	@$(call STEP,asan,$(call BUILD,asan,-DHEDDLE_PLAIN_BUILD=$(CURDIR)/build))
	@scripts/check build build-asan

check-full:
	@scripts/setup build report device check fuzz browser deb fresh
	@rm -f build/steps
	@$(call STEP,release,$(call BUILD,release,$(ARCHS_all) -DHEDDLE_SPILLS=error))
	@$(call STEP,asan,$(call BUILD,asan,-DHEDDLE_PLAIN_BUILD=))
	@$(call STEP,tsan,$(call BUILD,tsan))
	@HEDDLE_SLOW_TESTS=1 scripts/check build build-asan build-tsan
	@bash tests/browser/run.sh build
	@bash tests/fresh/run.sh build
	@tests/mutate --seconds 180 --jobs $(JOBS) --least 90 # a small sample, another each day: it may be unlucky
	@fuzz/run.sh $(SECONDS)

bench: build
	build/heddle bench set:paper --device cpu --kernel all --type f32,f64 --op N,T --json bench.jsonl --fresh

install: build
	@cmake --install build

deb:
	@scripts/setup --no-install build report deb
	@$(call BUILD,release,$(ARCHS_$(ARCHS)) -DCMAKE_INSTALL_PREFIX=/usr -DHEDDLE_TESTS=OFF)
	@rm -rf build/packages && cd build && cpack -G DEB && rm -rf packages/_CPack_Packages

python:
	@scripts/setup build python
	@$(call BUILD,release,$(ARCHS_$(ARCHS)) -DHEDDLE_TESTS=OFF)
	@scripts/python build $(PYTHON_EXTRAS)

# What torch's part says is there with PYTHON_EXTRAS=torch.
python-docs: python
	@build/python/bin/python -m pip install -q --disable-pip-version-check pdoc
	@cd build/python && bin/python -m pdoc heddle \
	  $$(bin/python -c 'import torch' 2>/dev/null || echo '!heddle.torch') '!heddle.__main__' -o ../python-docs

coverage:
	@scripts/setup build check
	@$(call BUILD,coverage)
	@scripts/coverage build-coverage

fuzz:
	@scripts/setup build fuzz
	@fuzz/run.sh $(SECONDS)

clean:
	rm -rf build build-*
