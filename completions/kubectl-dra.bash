# bash completion for kubectl-dra, printed by: kubectl-dra completion bash

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
