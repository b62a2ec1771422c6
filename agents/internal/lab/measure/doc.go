// Package measure sees what a link is like that is up, with probes and with a flow of its own.
package measure
