"""Hostile values, by what each of them would like to reach."""

OTHER_FOLDERS = [
    "..", "../x", "../../etc/passwd", "a/../../b", "a/..", "./a", ".", "/", "/etc/passwd", "//etc", "/dev/null",
    "/proc/self/environ", "~", "~/x", "~root", "~nobody-of-this-name", "..\\..\\x", "C:\\x", "\\\\host\\share", "a//b",
    "file:///etc/passwd", "zip://x.csv::https://example.org/x.zip", "https://example.org/x.csv", "%2e%2e%2fx",
    "..%c0%af", "\u2025/x", "\uff0e\uff0e/x", "a\u2044b", "a\u2215b",
]  # fmt: skip
SHELL = [
    "$(touch marker)", "`touch marker`", "; touch marker", "a;b", "| touch marker", "&& touch marker", "> marker",
    "$HOME", "${IFS}", "-rf", "--snakefile=x", "-", "a b", "*", "?", "[a-z]", "!x", "#x", "'", '"', "\\", "'; exit; '",
    "%s%n", "{a,b}", "<(true)",
]  # fmt: skip
LINES_AND_MARKS = [
    "base\n", "\nbase", "a\nb", "base\r", "base\t", " base", "base ", "a\x00b", "\x00", "a\x1b[2Jb", "\x07", "\x7f",
    "base\u2028", "base\u0085", "base\u200b", "base\u202egnp.exe", "\ufeffbase", "\ud800", "\U000e0041",
]  # fmt: skip
LOOK_ALIKES = ["b\u0430se", "\uff42\uff41\uff53\uff45", "ba\u0301se", "base.\u0660", "BASE", "\u0131", "\u212a", "ß"]
OTHER_LANGUAGES = [
    "{output}", "{wildcards.name}", "{", "}", "{{x}}", "{name,.*}", "<results>", "<results>/../x", "{snakemake.params}",
    "!!python/object/apply:os.system [touch marker]", "!!python/name:os.system", "&a [*a]", "[a", "{a: [b}", "- x",
    "null", "~null", "true", "1e309", "nan", "0x10", "2024-01-01", "=1+1", "<script>alert(1)</script>", "<img src=x>",
    "{{ 7*7 }}", "{% raw %}", "__import__('os').system('touch marker')", "module://os", "os:system", "]]>", "-->",
    "](javascript:x)", "$\\frac$", "(a+)+$", ".*|x", "(?s:.*)", "__proto__", "%(levelname)s",
]  # fmt: skip
LONG_OR_EMPTY = ["", "a" * 65, "a" * 256, "a/" * 3000, "9" * 5000, "[" * 4000, "é" * 200, "base." + "1" * 400]
DEVICES = ["con", "nul", "aux", "prn", "com1", "NUL", "nul.txt", "/dev/zero", "/dev/stdin"]
HOSTILE = [*OTHER_FOLDERS, *SHELL, *LINES_AND_MARKS, *LOOK_ALIKES, *OTHER_LANGUAGES, *LONG_OR_EMPTY, *DEVICES]
