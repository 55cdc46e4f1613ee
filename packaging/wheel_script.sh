#!/bin/sh
# Starts vramscope @VERSION@ of the wheel: no Python, which would take longer to start than the program takes to answer.
# The package lies where the Python that this was installed for has its packages: beside this folder.
self=$0
if [ -L "$self" ]; then self=$(readlink -f -- "$self"); fi  # pipx, uv
case $self in
  */*) folder=${self%/*} ;;
  *) folder=. ;;
esac
loader=/lib64/ld-linux-x86-64.so.2
for packages in "$folder"/../lib*/python3*/*-packages "$folder"/..; do
  if [ -d "$packages/vramscope-@VERSION@.dist-info" ]; then
    if [ ! -e "$loader" ]; then # the shell would say "not found" of a program that is there
      echo "vramscope: this program is for Linux with glibc on x86-64, and this computer ($(uname -s) on $(uname -m)) has no $loader;" \
        "on Alpine or another Linux with musl use a container of Debian, Ubuntu or Fedora" >&2
      exit 4
    fi
    exec "$packages/vramscope/_bundle/bin/vramscope" "$@"
  fi
done
echo "vramscope: the package vramscope @VERSION@ is not beside $folder: install it again" >&2
exit 4
