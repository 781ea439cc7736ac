"""Random rules over the scopes of `ledgers`: what a server might compute."""

NUMBERS = ["args.qty", "args.count", "entity.price", "entity.stock", "entity.rate", "entity.id"]
TEXTS = ["args.id", "args.name", "args.tag", "args.mode", "entity.status", "session.user", "args.code"]
PATHS = ["args.path", "session.cwd"]
LISTS = ["args.tags", "entity.tags"]
FLAGS = ["args.flag"]


def number(random, depth):
    pick = random.randrange(9 if depth else 3)
    if pick < 2:
        return random.choice(NUMBERS)
    if pick == 2:
        return random.choice(["size(entity.lines)", "size(args.tags)", "sum(entity.lines.map(x, x.qty))"])
    left, right = random.sample(NUMBERS, 2)
    constant = random.choice([2, 3, 5, 10, 100, 0.5, 1.2])
    return {
        3: f"{left} + {right}",
        4: f"{left} - {right}",
        5: f"{left} * {right}",
        6: f"{left} * {constant}",
        7: f"{left} + {constant}",
        8: f"round({left} / {right}, 2)",
    }[pick]


def text(random, depth):
    pick = random.randrange(9 if depth else 2)
    if pick < 2:
        return random.choice(TEXTS)
    one, two = random.sample(TEXTS, 2)
    return {
        2: f"'{random.choice(['No ', 'Order ', '#'])}' + {one}",
        3: f"{one} + '{random.choice([' ', '-', ': '])}' + {two}",
        4: f"string({random.choice(NUMBERS)}) + '{random.choice([' items', '%', ' of '])}' + {two}",
        5: f"{random.choice(PATHS)} + '/' + {one}",
        6: f"basename({PATHS[0]})",
        7: f"{one}.upperAscii()",
        8: f"{random.choice(LISTS)}.join(', ')",
    }[pick]


def condition(random, _depth):
    left, right = random.sample(NUMBERS, 2)
    return random.choice([
        "args.flag",
        f"args.qty > {random.randint(5, 15)}",
        f"entity.stock <= {random.randint(4, 9)}0",
        "args.qty >= entity.rate",
        f"args.mode == '{random.choice(['fast', 'slow', 'idle'])}'",
        "has(args.limit)",
        "args.tag in entity.tags",
        "entity.text.contains(args.tag)",
        "size(entity.lines) > 2",
        f"{left} < {right}",
    ])  # fmt: skip


def items(random, _depth):
    field = random.choice(["qty", "price"])
    return random.choice([
        random.choice(LISTS),
        f"{random.choice(LISTS)} + [args.tag]",
        "entity.tags + args.tags",
        f"sort({random.choice(LISTS)})",
        "take(lines(entity.text), args.count)",
        f"entity.lines.map(x, x.{random.choice(['sku', 'qty'])})",
        f"entity.lines.filter(x, x.{field} > {random.randint(3, 6)})",
        "entity.lines.filter(x, x.kind == 'a')",
        f"sort(entity.lines, '{field}')",
        f"sort(entity.lines, '-{field}').map(x, x.sku)",
        "entity.tags.filter(x, x != args.tag)",
        "lines(entity.text).filter(x, x.contains(args.tag))",
        "entity.lines.map(x, {'sku': x.sku, 'total': x.qty * x.price})",
    ])  # fmt: skip


def thing(random, depth):
    one = rule(random, depth - 1)
    return random.choice([
        f"{{'id': entity.id, 'value': {one}}}",
        f"merge(entity, {{'status': {text(random, depth - 1)}}})",
        f"merge(entity, {{'stock': {number(random, depth)}, 'last': args.tag}})",
        "merge(entity.stores, {args.tag: args.qty})",
    ])  # fmt: skip


def choice(random, depth):
    make = random.choice([number, text])
    yes, no = make(random, depth - 1), make(random, depth - 1)
    return f"{condition(random, 0)} ? {yes} : {no}"


def rule(random, depth=1):
    """One of all kinds; `depth` is how far it is put together."""
    kinds = [number, text, items] + ([condition, thing, choice] if depth else [])
    return random.choice(kinds)(random, max(depth, 0))
