// Package congestion sets what an agent chooses per socket: the congestion control, a pacing cap, and how much may wait unsent.
package congestion
