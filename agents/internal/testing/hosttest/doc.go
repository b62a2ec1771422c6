// Package hosttest makes network namespaces for tests and removes them again, and says what a host lacks for a test.
package hosttest
