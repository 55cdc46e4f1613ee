#!/bin/sh
# Starts vramscope @VERSION@ from the wheel. This is a shell script, because Python needs more time to start than the
# program needs to respond. The package is in the package folder of the Python for which it was installed. That folder
# is found relative to this one.
self=$0
if [ -L "$self" ]; then self=$(readlink -f -- "$self"); fi  # pipx and uv install a link
case $self in
  */*) folder=${self%/*} ;;
  *) folder=. ;;
esac
loader=/lib64/ld-linux-x86-64.so.2
for packages in "$folder"/../lib*/python3*/*-packages "$folder"/..; do
  if [ -d "$packages/vramscope-@VERSION@.dist-info" ]; then
    if [ ! -e "$loader" ]; then # without this, the shell would report "not found" although the program exists
      echo "vramscope: this program is for Linux with glibc on x86-64, and this computer ($(uname -s) on $(uname -m)) has no $loader;" \
        "on Alpine or another Linux with musl use a container of Debian, Ubuntu or Fedora" >&2
      exit 4
    fi
    exec "$packages/vramscope/_bundle/bin/vramscope" "$@"
  fi
done
echo "vramscope: no package folder next to $folder contains vramscope @VERSION@; install it again" >&2
exit 4
