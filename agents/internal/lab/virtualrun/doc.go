// Package virtualrun carries out runs over a link profile in virtual time and gives what agents would have recorded of them:
// rows of the fields of docs/fields.csv. What is said of a recorded run can so be said of a profile, by the same program.
package virtualrun
