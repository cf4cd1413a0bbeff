"""Random bodies of kernels, for companion.py: statements on elements, pointers and references to them, copies and helpers."""
import random


class Body:
    """One body; `size` statements. Elements are any of the array, since the threads run one after the other."""

    def __init__(self, seed, size=8):
        self.pick = random.Random(seed)
        self.names = {"q": [], "c": [], "r": [], "k": [], "t": []}  # pointers, to const, references, to const, copies
        self.count = 0
        self.lines = [self.statement() for _ in range(size)]

    def text(self):
        return "\n    ".join(self.lines)

    def any(self, *texts):
        return self.pick.choice(texts)()

    def index(self):
        return self.pick.choice(("i", "i", "(i * 7 + 3) % n", "(i + 1) % n", "n - 1 - i"))

    def entry(self):
        return self.pick.choice(("0", "3", "i & 3", "(i + 1) & 3"))

    def pointer(self, depth=0):
        choices = [lambda: "(a + %s)" % self.index(), lambda: "(&a[%s])" % self.index()]
        if self.names["q"]:
            choices += [lambda: self.pick.choice(self.names["q"])] * 2
        if depth < 2:
            choices += [lambda: "(%s & 1 ? %s : %s)" % (self.index(), self.pointer(depth + 1), self.pointer(depth + 1)),
                        lambda: "(&%s)" % self.element(depth + 1)]
        return self.any(*choices)

    def element(self, depth=0):
        choices = [lambda: "a[%s]" % self.index(), lambda: "(*%s)" % self.pointer(depth + 1), lambda: "%s[0]" % self.pointer(depth + 1)]
        if self.names["r"]:
            choices += [lambda: self.pick.choice(self.names["r"])] * 2
        return self.any(*choices)

    def source(self):
        """Something that is read as an element."""
        choices = [self.element, lambda: "b[%s]" % self.index()]
        for kind in "kt":
            if self.names[kind]:
                choices.append(lambda kind=kind: self.pick.choice(self.names[kind]))
        if self.names["c"]:
            choices.append(lambda: "(*%s)" % self.pick.choice(self.names["c"]))
        return self.any(*choices)

    def member(self, of):
        return self.pick.choice(("%s.x", "%s.y", "%s.v.z", "%s.v.x", "%s.w[{0}]", "%s.big.e[{0}]")).format(self.entry()) % of

    def place(self):
        return self.any(lambda: self.member(self.element()), lambda: "%s->y" % self.pointer(),
                        lambda: "%s->w[%s]" % (self.pointer(), self.entry()))

    def value(self, depth=0):
        choices = [lambda: self.member(self.source()), lambda: str(self.pick.randrange(9)), lambda: "%s.id" % self.source(),
                   lambda: "%s.energy()" % self.source(), lambda: "%s->energy()" % self.pointer(), lambda: "read_only(%s)" % self.source(),
                   lambda: "by_value(%s)" % self.source(), lambda: "%s.v.dot(%s.v)" % (self.source(), self.source()),
                   lambda: "through(%s)" % self.source(), lambda: "first(%s, 0)" % self.pointer(), lambda: "%s.high" % self.source(),
                   lambda: "%s.closed.sum()" % self.source(), lambda: "%s.by_const()" % self.source(), lambda: "%s->by_const()" % self.pointer(),
                   lambda: "%s.v.which()" % self.source(), lambda: "%s.by_kind()" % self.source(), lambda: "by_kind(%s)" % self.source(),
                   lambda: "kinds(b + %s, %s)" % (self.index(), self.pick.choice(("1.5f", "2.5"))), lambda: "(%s + %s).x" % (self.source(), self.source())]
        if depth < 2:
            choices += [lambda: "(%s + %s)" % (self.value(depth + 1), self.value(depth + 1)),
                        lambda: "(%s & 2 ? %s : %s)" % (self.index(), self.value(depth + 1), self.value(depth + 1))]
        return self.any(*choices)

    def name(self, kind):
        self.count += 1
        name = "%s%d" % (kind, self.count)
        self.names[kind].append(name)
        return name

    def declare(self, kind, words, value):
        text = value()
        return "%s %s = %s;" % (words, self.name(kind), text)

    def assign_known(self, kind, value):
        if not self.names[kind]:
            return self.statement()
        return "%s = %s;" % (self.pick.choice(self.names[kind]), value())

    def statement(self):
        return self.any(
            lambda: "%s = %s;" % (self.place(), self.value()), lambda: "%s += %s;" % (self.place(), self.value()),
            lambda: "%s = %s;" % (self.element(), self.source()), lambda: "%s.v = %s.v;" % (self.element(), self.source()),
            lambda: "%s.id ^= %s.hits;" % (self.element(), self.source()), lambda: "%s->hits++;" % self.pointer(),
            lambda: self.declare("t", "Body", self.source), lambda: self.declare("t", "auto", self.source),
            lambda: self.declare("q", "Body *", self.pointer), lambda: self.declare("q", "auto", self.pointer),
            lambda: self.declare("c", "const Body *", self.pointer), lambda: self.declare("q", "auto *", self.pointer),
            lambda: self.declare("r", "Body &", self.element), lambda: self.declare("r", "auto &", self.element),
            lambda: self.declare("k", "const Body &", self.source), lambda: self.declare("k", "const auto &", self.source),
            lambda: self.assign_known("q", self.pointer), lambda: self.assign_known("t", self.source),
            lambda: "move(%s, %s);" % (self.pointer(), self.value()), lambda: "twice(%s, %s);" % (self.pointer(), self.value()),
            lambda: "reset(%s, %s);" % (self.element(), self.source()), lambda: "exchange(%s, %s);" % (self.pointer(), self.element()),
            lambda: "atomicAdd(&%s, (float)%s);" % (self.place(), self.value()), lambda: "bump(%s, &%s.hits);" % (self.place(), self.element()),
            lambda: "{ const Vec &v = %s.v; %s = v.which() + v.dot(%s.v); }" % (self.source(), self.place(), self.source()),
            lambda: "{ const auto *p = %s; %s = p->by_const(); p = %s; %s += p->w[%s]; }" % (
                self.pointer(), self.place(), self.pointer(), self.place(), self.entry()),
            lambda: "for (Body *p = %s, *e = p + 1; p != e; ++p) %s = p->v.x + p->touched();" % (self.pointer(), self.place()),
            lambda: "%s.low = %s.high;" % (self.element(), self.source()), lambda: "{ Vec &v = %s.v; v.y += %s; }" % (self.element(), self.value()),
            lambda: "%s.accelerate(%s, %s);" % (self.element(), self.value(), self.index()),
            lambda: "%s->accelerate(%s, %s->touched());" % (self.pointer(), self.value(), self.pointer()),
            lambda: "if (%s == %s) %s = 1;" % (self.pointer(), self.pointer(), self.place()))
