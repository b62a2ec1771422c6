// Package socket sets what an agent chooses per connection, the congestion control, a pacing cap and how much may wait
// unsent, and reads what is in force.
package socket
