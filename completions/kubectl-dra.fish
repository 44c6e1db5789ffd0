# fish completion for kubectl-dra, printed by: kubectl-dra completion fish

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
