# SPDX-License-Identifier: MIT
"""The bugs that authors write, as patterns: each finds its places in a file and says what stands there
instead.

A mutant is one place of one pattern.  Its name is a hash of the file's path, the pattern, the line's text and
the number of the place among those alike, so that it keeps its name while lines above it come and go."""
import hashlib
import re


def blank(text):
    """The text with comments, strings and preprocessor lines blanked out, every character in its place."""
    def spaces(m):
        return re.sub(r'[^\n]', ' ', m.group())
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', spaces, text, flags=re.S)
    return re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', spaces, text, flags=re.M)


def arguments(text, at):
    """The arguments of the call whose parenthesis opens at `at`, and where it ends."""
    depth, begin, found = 0, at + 1, []
    for i in range(at, len(text)):
        c = text[i]
        if c in '([{':
            depth += 1
        elif c in ')]}':
            depth -= 1
            if depth == 0:
                return found + [text[begin:i].strip()], i + 1
        elif c == ',' and depth == 1:
            found.append(text[begin:i].strip())
            begin = i + 1
    return None, at


def plain_atomic(text, m):
    args, end = arguments(text, m.end() - 1)
    if not args or len(args) != 2:
        return None
    to, what = args
    name = m.group(1)
    if name == 'add':
        return end, f'(*({to}) += ({what}))'
    if name == 'or':
        return end, f'(*({to}) |= ({what}))'
    sign = '<' if name == 'max' else '>'
    return end, f'(*({to}) {sign} ({what}) ? (void)(*({to}) = ({what})) : (void)0)'


def other_lane(text, m):
    """The number of the lane that a shuffle reads from: one further."""
    args, end = arguments(text, m.end() - 1)
    if not args or len(args) < 2:
        return None
    return end, m.group() + ', '.join([args[0], f'({args[1]}) ^ 1'] + args[2:]) + ')'


def condition_true(text, m):
    args, end = arguments(text, m.end() - 1)
    return (end, m.group() + '1)') if args and end - m.start() < 120 else None


def replaced(new):
    return lambda text, m: (m.end(), m.expand(new))


# A loop over all elements of an array whose number is a constant.
OVER_ARRAY = re.compile(r'for \(int (\w+) = 0; (?:[^;]*&& )?\1$')
CONSTANT = re.compile(r'(?:[A-Z][A-Z0-9_]*(?: / [A-Z0-9_]+)?|\d+);')


def statement_at(text, at):
    """The block or the simple statement that begins there."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in '({[') - (text[i] in ')}]')
        if depth <= 0 and text[i] in ';}':
            return text[at:i]
    return text[at:]


def operand_before(text, at):
    """What stands on the left of a comparison."""
    depth, i = 0, at
    while i > 0 and (depth or text[i - 1] not in '=,;?:([{|&!'):
        i -= 1
        depth += (text[i] in ')]}') - (text[i] in '([{')
    return text[i:at].replace('return ', '')


def until(text, at, ends):
    """The text from there to the first of these characters that no parenthesis encloses, and where."""
    depth, asked = 0, 0
    for i in range(at, len(text)):
        if depth == 0 and text[i] in ends and not asked:
            return text[at:i], i
        asked += depth == 0 and (text[i] == '?') - (text[i] == ':')
        depth += (text[i] in '([{') - (text[i] in ')]}')
        if depth < 0:
            return text[at:i], i
    return None, at


def plain(expression):
    """Without casts, outer parentheses and blanks."""
    e = re.sub(r'\((?:(?:unsigned )?int|u?int\d+_t|size_t|double|float|real|off|idx)\)', '', expression)
    e = re.sub(r'\s', '', e)
    while e.startswith('(') and arguments(e, 0)[1] == len(e):
        e = e[1:-1]
    return e


def takes_one_of_two(text, m):
    """Is it the smaller or the larger of two, `a < b ? a : b`, `if (a > b) b = a;`, or what one is over the
    other, `a > b ? a - b : 0`?  Where the two are equal, it is the same which one is taken."""
    left, (right, end) = operand_before(text, m.start()), until(text, m.end(), '?&|;,')
    if right is None:
        return False
    a, b = plain(left), plain(right)
    if text[end] == '?':
        first, colon = until(text, end + 1, ':')
        second = until(text, colon + 1, ',;:')[0]
        return second is not None and {plain(first), plain(second)} in ({a, b}, {f'{a}-{b}', '0'})
    put = re.match(r'\)\s*([^=;]+?) = ([^=;]+);(?!\s*else)', text[end:])
    return (bool(put) and text.endswith('if (', 0, m.start() - len(left))
            and {plain(put[1]), plain(put[2])} == {a, b})


def strict(sign):
    """`<` instead of `<=` and the like, or the other way about."""
    return lambda text, m: None if takes_one_of_two(text, m) else (m.end(), sign)


def one_more(text, m):
    """`<=` instead of `<`, but not in such a loop: what lies behind the array is undefined, and compilers
    drop the round that would touch it."""
    loop = OVER_ARRAY.search(text[text.rfind('\n', 0, m.start()) + 1:m.start()])
    if loop and CONSTANT.match(text, m.end()):
        body = statement_at(text, arguments(text, text.rfind('for (', 0, m.start()) + 4)[1])
        if re.search(rf'\[{loop[1]}\b', body):
            return None
    return strict(' <= ')(text, m)


# name, what is looked for, what comes instead
PATTERNS = [
    ('barrier removed', r'\bsimt_(?:wave_)?sync\([^;]*\);', replaced(';')),
    ('fence removed', r'\bsimt_fence\([^;]*\);', replaced(';')),
    ('atomic to plain', r'\bsimt_atomic_(add|or|max|min)\(', plain_atomic),
    ('wrong lane', r'\bsimt_shfl(?:_xor|_up|_down)?\(', other_lane),
    ('beta ignored', r'\bbeta_of\([^()]*\)', replaced('(real)0')),
    ('alpha ignored', r'\balpha_of\([^()]*\)', replaced('(real)1')),
    ('< to <=', r' < (?=[^;=]*[;)&|?])', one_more),
    ('<= to <', r' <= ', strict(' < ')),
    ('> to >=', r' > ', strict(' >= ')),
    ('>= to >', r' >= ', strict(' > ')),
    ('== to !=', r' == ', replaced(' != ')),
    ('!= to ==', r' != ', replaced(' == ')),
    ('+ 1 dropped', r' \+ 1\b(?![.\w])', replaced('')),
    ('- 1 dropped', r' - 1\b(?![.\w])', replaced('')),
    ('+ to -', r'(?<=[\w)\]]) \+ (?=[\w(])(?!1\b)', replaced(' - ')),
    ('+= to =', r' \+= ', replaced(' = ')),
    ('&& to ||', r' && ', replaced(' || ')),
    ('|| to &&', r' \|\| ', replaced(' && ')),
    ('condition always true', r'\bif \(', condition_true),
    # of what counts entries or bytes: rows, columns and lanes are below 2^31
    ('type narrowed', r'(?<=[\s(])int64_t(?= (?:k|nnz|first|last|begin|end|from|at|next|entry|entries|bytes'
                      r'|offset|start|stop|tile)\b)', replaced('int32_t')),
    ('type narrowed', r'\(off\)', replaced('(int16_t)')),
    ('type narrowed', r'(?<=\s)(?:double|real)(?= sum)', replaced('float')),
    ('statement dropped', r'(?<=[;{}]\n)([ \t]+)[a-z][\w.>\-\[\]\* +()&,]*(?:=[^=;\n]+|\([^;\n]*\));(?=\n)',
     None),
    ('carry lost', r'\b[\w.>\-]*carry[\w.>\-]* = (?=[^=;]+;)', replaced(r'\g<0>0 * ')),
    ('break dropped', r'\b(?:break|continue);', replaced(';')),
]
DECLARES = re.compile(
    r'^\s*(?:const |static |unsigned |struct |return\b|goto\b|u?int\d*_t |int |char |double |float |real '
    r'|off |idx |elem |void |size_t |heddle_status )')


# Patterns of their own take these away.
BARRIER = re.compile(r'\s*simt_(?:(?:wave_)?sync|fence)\(')


def statement(text, m):
    is_other = DECLARES.match(m.group()) or BARRIER.match(m.group())
    return None if is_other else (m.end(), m.group(1) + ';')


def mutants(path, text):
    """Every mutant of a file: dictionaries with name, path, line, pattern, begin, end, new."""
    code = blank(text)
    seen, found = {}, []
    body = re.search(r'^\w[^;\n]*\([^;]*\)\n\{', code, flags=re.M)
    for pattern, regex, new in PATTERNS:
        for m in re.finditer(regex, code):
            if not body or m.start() < body.start() or '\n' in m.group():
                continue
            got = (new or statement)(code, m)
            if not got:
                continue
            end, put = got
            line_begin = text.rfind('\n', 0, m.start()) + 1
            line = text[line_begin:text.find('\n', m.start())]
            if (not line.startswith((' ', '\t'))
                    or DECLARES.match(line) and '(' not in line and '=' not in line):
                continue
            alike = (pattern, line.strip(), m.start() - line_begin)
            seen[alike] = seen.get(alike, 0) + 1
            key = hashlib.sha1(f'{path}|{alike}|{seen[alike]}'.encode()).hexdigest()[:10]
            found.append({'name': key, 'path': path, 'line': text.count('\n', 0, m.start()) + 1,
                          'pattern': pattern, 'begin': m.start(), 'end': end, 'new': put,
                          'text': line.strip()})
    return found
