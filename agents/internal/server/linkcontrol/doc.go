// Package linkcontrol is the control socket of an emulated link: an agent beside it restarts the link's course for a run,
// and gets the link's log while the run lasts.
package linkcontrol
