# Every target works on a machine with Go; e2e also needs root, strace and iproute2.

GO         ?= go
BIN        := bin/ktriage
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test e2e chaos matrix differential bench fuzz lint docs demo clean

build:
	$(GO) build -trimpath -ldflags '-s -w' -o $(BIN) ./cmd/ktriage

# All tests that need no lab.
test:
	$(GO) test -race -timeout 20m ./...

# Builds the lab, starts it, and tries the built ktriage on it as a user would. One
# package at a time: what is measured must not be another test.
e2e: build
	cd lab && $(GO) run ./cmd/lab build
	cd lab && KTRIAGE_BIN=$(CURDIR)/$(BIN) $(GO) test ./... -p 1 -count=1 -timeout 40m -v
	cd lab/pending && $(GO) test . -count=1 -timeout 10m -v -probes 60 -cases 1000

# Tries the built ktriage on all faults and healthy shapes there are, and writes
# what came of it. RUN picks some by a regular expression; RECORD is a folder for
# recordings, such as internal/cli/testdata/recordings, which make test judges.
# KUBERNETES=1.34 does it all on that line of Kubernetes: its table and its
# recordings stand beside the others, docs/fault-matrix-1.34.md and RECORD/1.34.
RUN        ?=
RECORD     ?=
KUBERNETES ?=
matrix: build
	cd lab && $(GO) run ./cmd/lab build -kubernetes '$(KUBERNETES)'
	cd lab && KTRIAGE_BIN=$(CURDIR)/$(BIN) $(GO) run ./cmd/lab matrix -kubernetes '$(KUBERNETES)' -run '$(RUN)' $(if $(RUN),,-o ../docs/fault-matrix$(if $(KUBERNETES),-$(KUBERNETES)).md) $(if $(RECORD),-record $(abspath $(RECORD)))

# Holds what ktriage says of Pending pods against the real kube-scheduler: CASES pods
# that its program judges, behind a real API server, ten times as many that it
# judges as a library, and the changes that ktriage proposes, made.
CASES ?= 2000
differential:
	cd lab && $(GO) run ./cmd/lab build
	cd lab/pending && $(GO) test . -count=1 -timeout 3h -v -probes $(CASES) -cases $$(( 10 * $(CASES) )) -report $(CURDIR)/docs/pending-differential.md

# Breaks real etcd clusters of three and five while ktriage works on them, RUNS
# times, and writes what came of it. A hundred runs take an hour.
RUNS ?= 100
chaos: build
	cd lab && $(GO) run ./cmd/lab build
	cd lab && KTRIAGE_BIN=$(CURDIR)/$(BIN) $(GO) test ./chaos -run TestChaos -count=1 -parallel 4 -timeout 5h -v -runs $(RUNS) -report $(CURDIR)/docs/chaos.md

# Compares what clients notice of a defragmentation with the same by PEER, a build
# of github.com/ahrtr/etcd-defrag, on databases of SIZES GiB in a folder BASE, which
# needs room for each of them seven times.
SIZES ?= 1,2
BASE  ?= /var/tmp
.PHONY: sidebyside
sidebyside: build
	cd lab && $(GO) run ./cmd/lab build
	cd lab && KTRIAGE_BIN=$(CURDIR)/$(BIN) $(GO) test ./chaos -run TestSideBySide -count=1 -timeout 2h -v -peer $(PEER) -sizes $(SIZES) -base $(BASE)

# Time and memory of what reads large bodies and lists.
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# Each fuzz target for a short while; the seeds run with make test.
FUZZTIME ?= 10s
fuzz:
	@set -e; for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; \
		done; done

lint:
	@out=$$(gofmt -l cmd checks collectors remediate internal lab); test -z "$$out" || { echo "gofmt: $$out"; exit 1; }
	$(GO) vet ./...
	cd lab && $(GO) vet ./...
	cd lab/pending && $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Writes what is generated from the code: the list of checks and its pages.
docs:
	$(GO) run ./cmd/ktriage docs docs
	$(GO) test ./internal/report -run TestThePublishedSchema -update

# Records the demonstration anew, from a lab with slow disks.
demo: build
	cd lab && $(GO) run ./cmd/lab up && $(GO) run ./cmd/lab fault slow-fsync
	eval "$$(cd lab && $(GO) run ./cmd/lab env)" && $(BIN) capture -o internal/cli/demo.tar.gz
	cd lab && $(GO) run ./cmd/lab heal

clean:
	rm -rf bin dist
