// Package linkcontrol is what an agent and an emulated link say to each other, and the agent's end of the link's control sockets:
// it restarts the link's course for a run, and gets the link's log while the run lasts. The link's end is package linkserver.
package linkcontrol
