"""Samples of calls of StableHLO modules, which jax.export wrote; the modules are compressed.

`STATIC` is `(2 * x + 1, sum(x))` for float32 of shape (2, 3), and `OPEN` two x one after the other, for
float32 of shape (b, 2).
"""

import base64
import zlib

from tests.ops.samples import f32, sample


def _module(text: str) -> str:
    """A module's bytes as the text of an attribute."""
    return zlib.decompress(base64.b85decode(text)).decode("utf-8", "surrogateescape")


STATIC = _module(
    "c-"
    "mc3+iKfD5Z%pqycLUBgiwt!i!jExBG`@zA*8vuO=;57gftCpDIo~iRvIOerRoxrx6)teLqDh=(QoKef1xWoCT$k&"
    "&N-ve*)xL<5B|K<PjYV*`mYX--0MMau-"
    "024w22fA3LJzmYYn^AfgfK?dd!&+T$HQD1?S}!q9J(s%;0=;Xez+DX>wCl*|vQ|kqaeOW2|ACOWy!3Tedq^cNJ@L"
    "gBgHwb6dW6Dc>9dtJNF2)Uj?*f(?{t%NAf0Tb9G5w%nym9}H!GfNcf2zAx9-"
    "u~TO8J36>*4OP|ilD8b}TKkH<p0O_W<q_aOuG)eEeAH=62R!q1ICkZlI>&NdZpcj=HKNumd>zi&GuvpAyG0jKqf1"
    "K;)g07xO_K&NWat3p4rsjc8|g7vlvRF#>isPMtNaAB1ENV_7ZDJ4Ih&mtAnvJ|F<^RCC>5&Vo>6jS)l!w~;sYwHN"
    "R>zz7)Lc$ldvkza#}@2t-"
    "?_lRdp97kE`2)TUN7HZ?~nXtzy0HY?w8xZdk&p3vP^xAk2d)xxNTv62+4u^vO7$X1O=b)jvQ+Y3xnLUY5JT)SU!T"
    "ne!%-GNgW9q|*|e7t?VWqe5vV;qCnGq!{}p>gQ3?kFI*jE!hgaXf*M5$fbAFD>6TGvkNcr-6Rfgqc}}2f-"
    "EADveKItk(+pF9^`>?bDvB7Bn*@vav9{VJC`FjC3~_EclvjCXGKIZKP6l9zIOhvdhm_%{ve~;B=<^B|G_i+sh_EK"
    ")mYABGRLPYXA3kqBax@ZniL~tmppO=4k>^C>D2!W0bD@@ClLPyZ&b7Z"
)
OPEN = _module(
    "c-n<i>u%dN6edHTvVvd;f?*heL70XSI6`VEUf>34n-"
    "pE)WLX=eUC|9gQ3$e4+iG>2NIA)dJ<ERV8TJf&oIS!u$w@O~KSqk;IXt)TJCrV7|Mgw{oeCzA_~!MczZ$y3k-"
    "Lv@4=^+^F^O$8TJ27+zej$*Y2h(7Evsi*rm2^nmf600%GuD1jLfyAp`FY|_3oJKfx)y$<Irl+Hl-HbdQ3XdvI#VI"
    "_6RlW7T5sWHpb8f1|8PI&}D4~y=I59ZVz?_gxcK;)_0&kC<D&ezyqf|h2Pi#g*|qNVZfeZ@CbRH!jQeha6oV!6Y`"
    "FY8n)igdPbeR|A8H{BleUX6Y$UKB$%@2>_xB6UUsN~5kdx~z{V!9Gj;$38+dEW0rdCnFiZzq8aDyM2CBC<b8r*a{"
    "sjD1`_kGUI)uEzgw__sY!d?+Ut`dSPe+tcjpy{pAPoRwjb9v_I)i<R>jXeIy@p8{Y0+BA5b9<V(bH|Jjf6mLNZ<j"
    "%fYJB$bMoy28ywy0?m?H)4r>^V5p3@`M=iV48f<r(wq@FrB8*g+pw%);QJl_-NT7L<O!ZBpT&N;XN@<!V(?E$tuU"
    "l2BAW@~f5Xzs0u}EZ?CcX@RzV(Q+AYY4xRB7x_gD9%h+uc)f=Ea}g>;`=buH8Zk>C0u12|r7tn>fw0Whi45Yg}$p"
    "#J*0aLZxfS`?FkRQ8*1G`V=bPkAiqI3($3`?LJ#;Cyw_o?C9<kNs*&xYq}?!{%Dho=7&U{r@0>sDFdyoK?YK%DB&"
    "RgDi5+u%zRD57uQ*uD?bi&OG{e0kVT~YFqx-lEu+eo6%&oTa#=*_B#8XGo}vlL@^Dq6Jx{Vi@v5HWvy>;P;&Gs+O"
    "RkoJ-"
    "?wRc=OZ&Q4d=QeB`}wdueGkkjIV;I5d7qr5BWUJ`4@)TkcZ{3&HIzS%iqf|SyZ{_X%wYbrS^YS<P#p`3;ALHqg$E"
    "zG2fj$;$Jx~znmydRhR#7JsqVhYTsY>f93N$jW?54#!aLfMYO<ot6=95cln!01X6G*1YatZ$tRvSOQ+H;yE_vrPb"
    "6NX`ze*Tz8>%XJ9C#Rj(U|o_;RI#>cVA(Kyw#-"
    "CNz^sx(GcS+tA16<=gWgKah}Iz~|WhNfzU)@pw#LnIFaZtHnP<++_I"
)

# What it has no function in tf.raw_ops for cannot be recorded; tests/xla/test_modules.py has answers.
WHY = "tf.raw_ops has no function for it"
sample(
    "XlaCallModule",
    args=[f32(2, 3)],
    version=10,
    module=STATIC,
    Sout=[[2, 3], []],
    Tout=["float32", "float32"],
    platforms=["CPU"],
    parity=WHY,
)
sample(
    "XlaCallModule",
    args=[f32(3, 2)],
    version=9,
    module=OPEN,
    Sout=[[None, 2]],
    Tout=["float32"],
    parity=WHY,
)
