# The short way to everything; the work is done by CMake and by the scripts in tools/.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
VERSION = $(shell sed -nE 's/^.define RESTRIDE_VERSION_(MAJOR|MINOR|PATCH) //p' include/restride/version.h | paste -sd.)

.PHONY: demo check check-long check-torture check-hw coverage build lint format install clean packages dist deb

# The targets that name packages install what is missing of Debian's, as root; no other does.
demo: packages build
	/usr/bin/python3 tools/demo.py $(BUILD)

check: packages
	BUILD=$(BUILD) JOBS=$(JOBS) tools/check.sh

check-long: packages
	tools/install-packages.sh --cross
	BUILD=$(BUILD) JOBS=$(JOBS) tools/check.sh --long

# Changes of files with a journal, interrupted in every way: 10,000 rounds.
check-torture: build
	tests/file/torture.py $(BUILD)/bin/restride $(BUILD)/tests/file/libcrashing_disk.so 10000 $(JOBS)

# The lines of layer/core, transpose, layout and file that no test runs; fails when a room has more than 8 %.
coverage: packages
	BUILD=$(BUILD)-coverage JOBS=$(JOBS) tools/coverage.sh

# The hardware of the data layout transformer, all shapes; installs Verilator and Yosys.
check-hw: packages
	tools/install-packages.sh --hardware
	lab/hw/check.sh all

build:
	cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory

lint: build
	tools/lint.sh $(BUILD)

format:
	tools/lint.sh --format

# What is installed has compiled kernels for CUDA where nvcc is; those take some minutes, which a build for work does not.
install:
	cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DRESTRIDE_CUDA_ARCHITECTURES=usual
	cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory
	cmake --install $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-coverage

packages:
	tools/install-packages.sh

# A source tarball, which builds without git; the Debian packages, in the folder above.
dist:
	git archive --prefix=restride-$(VERSION)/ --output=restride-$(VERSION).tar.gz HEAD

deb:
	dpkg-buildpackage --no-sign --build=binary
