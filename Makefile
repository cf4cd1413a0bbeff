# The short way to everything; the work is done by CMake and by the scripts in tools/.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: demo check check-long check-hw build lint format install clean packages

demo: build
	/usr/bin/python3 tools/demo.py $(BUILD)

check: packages
	BUILD=$(BUILD) JOBS=$(JOBS) tools/check.sh

check-long: packages
	BUILD=$(BUILD) JOBS=$(JOBS) tools/check.sh --long

# The hardware of the data layout transformer, all shapes; installs Verilator and Yosys.
check-hw: packages
	tools/install-packages.sh --hardware
	lab/hw/check.sh all

build: packages
	cmake -S . -B $(BUILD) -DRESTRIDE_WERROR=ON -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build $(BUILD) --parallel $(JOBS) -- --no-print-directory

lint: build
	tools/lint.sh $(BUILD)

format:
	tools/lint.sh --format

install: build
	cmake --install $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize

packages:
	tools/install-packages.sh
