// Package linkserver is the link's end of an emulated link's control sockets: one for its course, one for the relays at its sites.
package linkserver
