// Package delivery makes a flow's delivery table: for each block, when its last byte first left the sender, when all of
// it had arrived, and when it was there in order. It has no clock and no socket; moments are given to it.
package delivery
