# Makes a `go` command available that can build the tests' Go modules, and says what it did. To be sourced:
#
#     . .ci/provide-go.sh
#
# Any Go from 1.21 on will do: it fetches by itself the toolchain that a go.mod asks for. Older ones, such as the one
# of Debian 12, can't, but they can download that toolchain as the Go module that it is.

_go_minor() { "$1" env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p'; }

_go_install_package() {
  command -v apt-get >/dev/null || return 1
  echo "provide-go: installing golang-go with apt-get" >&2
  _sudo=; [ "$(id -u)" = 0 ] || _sudo=sudo
  $_sudo apt-get update -q >/dev/null && $_sudo apt-get install -q -y --no-install-recommends golang-go ca-certificates >/dev/null
}

# Argument: an old go command. Prints the folder of the toolchain that tests/controlplane/go.mod asks for.
_go_toolchain_module() {
  _version=$(sed -n 's/^toolchain //p' tests/controlplane/go.mod)
  [ -n "$_version" ] || _version=go$(sed -n 's/^go //p' tests/controlplane/go.mod)
  _module="golang.org/toolchain@v0.0.1-$_version.$("$1" env GOOS)-$("$1" env GOARCH)"
  echo "provide-go: downloading $_module with $("$1" version)" >&2
  # Outside of any module, because an old go does not understand a new go.mod.
  _dir=$(cd / && GO111MODULE=on GOFLAGS=-modcacherw "$1" mod download -json "$_module" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
  [ -n "$_dir" ] || return 1
  # Files of a module lose their executable bits.
  chmod -R u+w "$_dir" && find "$_dir/bin" "$_dir/pkg/tool" -type f -exec chmod 755 {} + && echo "$_dir"
}

provide_go() {
  for _go in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go/bin/go; do
    [ -x "$_go" ] && break
    _go=
  done
  if [ -z "$_go" ]; then
    _go_install_package || { echo "provide-go: no Go found; install Go 1.21 or later" >&2; return 1; }
    _go=$(command -v go) || return 1
  fi
  if [ "$(_go_minor "$_go")" -lt 21 ]; then
    _root=$(_go_toolchain_module "$_go") || { echo "provide-go: can't get a newer Go with $_go" >&2; return 1; }
    unset GOROOT
    _go=$_root/bin/go
  fi
  PATH=$(dirname "$_go"):$PATH
  export PATH
  echo "provide-go: $(go version) in $_go" >&2
}

provide_go
