// Package controls offers the congestion controls of this host: those of its kernel, and those that the agent brings along
// and loads.
package controls
