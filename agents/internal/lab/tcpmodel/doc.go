// Package tcpmodel runs TCP flows over an emulated link in virtual time. It is what link profiles are fitted and checked
// with in seconds; what they are judged by is the real kernel.
//
// The model is Linux's in what decides how windows move: an initial window of ten segments, CUBIC (net/ipv4/tcp_cubic.c)
// with HyStart's two detectors, a receiver that acknowledges every second segment, recovery by SACK with proportional rate
// reduction (RFC 6937) in which nothing is taken for lost that is not. It sends without pacing.
package tcpmodel
