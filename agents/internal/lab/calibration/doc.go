// Package calibration says how an emulated link behaves, in numbers that were published of real ones, and holds them
// against the targets of its profile. Everything is reckoned in virtual time, without privileges and without building the
// link; what only real kernels can show is named with the command that measures it.
package calibration
