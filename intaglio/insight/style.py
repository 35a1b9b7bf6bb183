"""The style sheet of fragments, pictures and reports, for light and dark colour schemes."""

from __future__ import annotations

STYLE = """
.intaglio{--ink:#1d2733;--dim:#5b6774;--line:#c9d1da;--paper:#fff;--op:#eef2f6;--input:#dbeafe;
--code:#d8f0dc;--flow:#fde9c8;font:13px/1.45 system-ui,sans-serif;color:var(--ink);
background:var(--paper);color-scheme:light dark;padding:4px}
@media(prefers-color-scheme:dark){.intaglio{--ink:#dfe6ee;--dim:#93a1b0;--line:#3c4856;
--paper:#12181f;--op:#212b36;--input:#1d3557;--code:#1e4028;--flow:#4d3a16}}
.intaglio table{border-collapse:collapse;margin:4px 0}
.intaglio th,.intaglio td{border:1px solid var(--line);padding:2px 7px;text-align:left;
vertical-align:top;color:var(--ink);background:var(--paper)}
.intaglio th{color:var(--dim);font-weight:600}.intaglio td.n{text-align:right;
font-variant-numeric:tabular-nums}
.intaglio pre{overflow:auto;max-height:32em;margin:4px 0;color:var(--ink);background:var(--paper)}
.intaglio p{margin:4px 0}.intaglio summary{cursor:pointer;color:var(--dim)}
.intaglio svg{max-width:100%;height:auto;background:var(--paper)}
.intaglio svg text{font:11px ui-monospace,monospace;fill:var(--ink)}
.intaglio svg .s{fill:var(--dim);font-size:9px}
.intaglio rect{fill:var(--op);stroke:var(--line)}.intaglio .input rect{fill:var(--input)}
.intaglio .code rect{fill:var(--code)}.intaglio .flow rect{stroke:#d08700;stroke-width:2}
.intaglio path{fill:none;stroke:var(--dim);stroke-opacity:.55}
.intaglio .views>input{margin:0 3px 0 10px}.intaglio .views>div{display:none;overflow:auto;max-height:48em}
.intaglio .views>input:nth-of-type(1):checked~div:nth-of-type(1),
.intaglio .views>input:nth-of-type(2):checked~div:nth-of-type(2),
.intaglio .views>input:nth-of-type(3):checked~div:nth-of-type(3){display:block}
.intaglio .bar{display:inline-block;height:9px;background:#5b8def;vertical-align:middle}
"""
