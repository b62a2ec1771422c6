// Package tcpinfo reads the kernel's tcp_info of a socket and turns it into the fields of docs/fields.csv.
//
// The structure grows with the kernel, so every field is decoded only when the returned length reaches its end.
package tcpinfo
