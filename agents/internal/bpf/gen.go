// Package bpf holds the programs that run in the kernel: congestion controls and the per-ACK probe.
//
// The objects are committed, so that a Go toolchain suffices to build. After a change to a C file run
// `make generate` in agents/; it needs clang and llvm of Debian 12. `make check-generated` proves that they match.
package bpf

//go:generate sh compile.sh CubicNohs dl_cubic_nohs.bpf.c
//go:generate sh compile.sh CubicSearch dl_cubic_search.bpf.c
//go:generate sh compile.sh CubicHspp dl_cubic_hspp.bpf.c
//go:generate sh compile.sh CubicMeansd dl_cubic_meansd.bpf.c
//go:generate sh compile.sh CubicBest dl_cubic_best.bpf.c
//go:generate sh compile.sh Hybla dl_hybla.bpf.c
//go:generate sh compile.sh Vivace dl_vivace.bpf.c
//go:generate sh compile.sh Probe probe.bpf.c -type ack_record -type ack_tally
//go:generate sh compile.sh Bench bench.bpf.c -type throughput_case -type step_case -type vivace_case -type slope_case -type hspp_case
