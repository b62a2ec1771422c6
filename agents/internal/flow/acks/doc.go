// Package acks records a socket's state at every acknowledgement: programs in the kernel write into a ring, and what is
// read from it becomes rows.
package acks
