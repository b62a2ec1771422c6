// Package pep is a performance-enhancing proxy as operators of satellite links have one (RFC 3135): it ends each TCP
// connection that is to pass its network namespace, and goes on with one of its own to where the first was bound for.
// Neither end knows of it: both see the other's address and port.
package pep
