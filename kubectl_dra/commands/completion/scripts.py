"""Completion scripts for the executable ``kubectl-dra`` itself; behind ``kubectl dra`` kubectl does it on its own.

Each asks ``kubectl-dra __complete`` and speaks the protocol of ``complete``. ``tools/completions.py`` writes the files
of the folder completions from these texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# bash cuts words at "=" and ":", so the line goes as a whole, and what stands before the cut comes off again. Works
# with the bash 3.2 of macOS as well, where there is no compopt.
_BASH: Final = r"""# bash completion for kubectl-dra, printed by: kubectl-dra completion bash

_kubectl_dra() {
  local typed=$2 line=${COMP_LINE:0:COMP_POINT} raw=${COMP_WORDS[COMP_CWORD]} word value quoted head directive=0
  case $raw in
    [\'\"]*) quoted=1 head= ;;
    *)
      word=${line##*[[:space:]]}
      [[ $word == -*=* ]] && word=${word#*=}
      [[ $typed == [=:] ]] && typed=
      quoted= head=${word%"$typed"}
      ;;
  esac
  COMPREPLY=()
  while IFS= read -r value; do
    if [[ $value == :[0-9]* ]]; then
      directive=${value#:}
      continue
    fi
    value=${value%%$'\t'*}
    value=${value#"$head"}
    [[ $quoted ]] || printf -v value '%q' "$value"
    COMPREPLY+=("$value")
  done < <(kubectl-dra __complete-line "$line" 2>/dev/null)
  ((directive & 2)) && compopt -o nospace 2>/dev/null
  if ! ((directive & 4)); then
    compopt -o filenames 2>/dev/null
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$typed")
  fi
}

complete -F _kubectl_dra kubectl-dra
"""

_ZSH: Final = r"""#compdef kubectl-dra
# zsh completion for kubectl-dra, printed by: kubectl-dra completion zsh

_kubectl-dra() {
  local line directive=0 typed=$PREFIX
  local -a values shown space
  [[ -n $compstate[quote] ]] || typed=${(Q)PREFIX}
  for line in "${(@f)$(kubectl-dra __complete "${(@Q)words[2,CURRENT-1]}" "$typed" 2>/dev/null)}"; do
    if [[ $line == :<-> ]]; then
      directive=${line#:}
    elif [[ -n $line ]]; then
      values+=("${line%%$'\t'*}")
      shown+=("${line/$'\t'/  -- }")
    fi
  done
  [[ $PREFIX == -*=* ]] && compset -P 1 '*='
  (( directive & 2 )) && space=(-S '')
  (( $#values )) && compadd -l -V kubectl-dra -d shown "${space[@]}" -a values
  (( directive & 4 )) || _files
}

if [[ $funcstack[1] == _kubectl-dra ]]; then
  _kubectl-dra "$@"
else
  compdef _kubectl-dra kubectl-dra
fi
"""

_FISH: Final = r"""# fish completion for kubectl-dra, printed by: kubectl-dra completion fish

function __kubectl_dra_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (string replace -r '^[\'"]' '' -- (commandline -ct))
    set -l flag (string match -r -- '^-[^=]*=' $current)
    set -l lines (kubectl-dra __complete $words "$current" 2>/dev/null)
    for line in $lines[1..-2]
        echo -- "$flag$line"
    end
    if test (math "bitand($(string replace : '' -- $lines[-1]), 4)") -eq 0
        __fish_complete_path (string replace -- "$flag" '' "$current")
    end
end

complete -c kubectl-dra -f -k -a '(__kubectl_dra_complete)'
"""

SCRIPTS: Final[Mapping[str, str]] = MappingProxyType({"bash": _BASH, "zsh": _ZSH, "fish": _FISH})
# How each shell wants its file to be called where it loads completions by itself.
FILES: Final[Mapping[str, str]] = MappingProxyType(
    {"bash": "kubectl-dra.bash", "zsh": "_kubectl-dra", "fish": "kubectl-dra.fish"}
)
