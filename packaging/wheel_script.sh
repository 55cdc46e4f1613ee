#!/bin/sh
# Starts vramscope @VERSION@ of the wheel: no Python, which would take longer to start than the program takes to answer.
# The package lies where the Python that this was installed for has its packages: beside this folder.
self=$0
if [ -L "$self" ]; then self=$(readlink -f -- "$self"); fi  # pipx, uv
case $self in
  */*) folder=${self%/*} ;;
  *) folder=. ;;
esac
for packages in "$folder"/../lib*/python3*/*-packages "$folder"/..; do
  if [ -d "$packages/vramscope-@VERSION@.dist-info" ]; then
    exec "$packages/vramscope/_bundle/bin/vramscope" "$@"
  fi
done
echo "vramscope: the package vramscope @VERSION@ is not beside $folder: install it again" >&2
exit 4
