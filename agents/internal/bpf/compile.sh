#!/bin/sh
# compile.sh IDENT SOURCE [bpf2go options]: one object and its Go file, here or in the folder OUT.
# Version 3 of the instruction set: kernel 5.1 and later.
set -eu
ident=$1 source=$2
shift 2
exec go tool bpf2go -output-dir "${OUT:-.}" -target bpfel -no-global-types -cflags "-O2 -g -mcpu=v3 -fno-builtin -Wall -Werror" "$@" "$ident" "$source"
