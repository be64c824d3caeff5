// SPDX-License-Identifier: Apache-2.0
// The page's style: light and dark by the reader's choice, two columns or one by the room there is, ink on
// paper.
#include "cli/report.h"

static const char base[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f27;--soft:#5c6675;--line:#e3e7ed;--faint:#f1f3f6;"
    "--panel:#f7f8fa;--grey:#c3cad4;--good:#0f7a43;--warn:#a65b00;--bad:#c1223f}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,-apple-system,\"Segoe UI\","
    "Roboto,\"Helvetica Neue\",\"Noto Sans\",\"DejaVu Sans\",sans-serif;font-variant-numeric:tabular-nums;"
    "-webkit-text-size-adjust:100%}\n"
    "main{max-width:1160px;margin:0 auto;padding:48px 28px 64px}\n"
    "h1{font-size:34px;line-height:1.15;letter-spacing:-.02em;margin:0 0 8px}\n"
    "h2{font-size:23px;line-height:1.25;letter-spacing:-.01em;margin:0;overflow-wrap:anywhere}\n"
    "h3{font-size:15px;margin:0 0 6px;font-weight:600}\n"
    "p{margin:0 0 12px;max-width:74ch}\n"
    "a{color:inherit;text-decoration-color:var(--soft);text-underline-offset:3px}\n"
    "section{margin-top:56px}\n"
    ".lead{font-size:19px;color:var(--soft)}\n"
    ".size{color:var(--soft);margin:4px 0 18px;max-width:none;overflow-wrap:anywhere}\n"
    "code{font:14px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}\n"
    "pre{margin:0;padding:12px 16px;background:var(--panel);border:1px solid var(--line);border-radius:8px;"
    "white-space:pre-wrap;overflow-wrap:anywhere}pre span{display:inline-block;max-width:100%}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:24px 0}\n"
    "dt{color:var(--soft)}dd{margin:0;min-width:0;overflow-wrap:anywhere}\n"
    ".again{color:var(--soft);margin:0 0 6px}\n"
    ".scroll{overflow-x:auto;margin:0 -4px;padding:0 4px}\n"
    "table{border-collapse:separate;border-spacing:0;width:100%;font-size:15px;white-space:nowrap}\n"
    "th{font-weight:500;font-size:13px;color:var(--soft);text-align:right;padding:6px 0 6px 20px;"
    "border-bottom:1px solid var(--line);vertical-align:bottom}\n"
    "td{text-align:right;padding:6px 0 6px 20px;border-bottom:1px solid var(--faint)}\n"
    ".s{text-align:left;padding-left:0;position:sticky;left:0;background:var(--bg)}\n"
    ".u{text-align:left}\n"
    "td.s{font-weight:600}td.s small{font-weight:400;color:var(--soft)}\n"
    "tr.first td{font-weight:600}\n"
    "td.v{color:var(--soft)}\n"
    "td.r{text-align:left;color:var(--soft);white-space:normal}\n"
    "tr.x td.s{font-weight:400;color:var(--soft)}\n"
    ".good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}\n"
    ".bar{width:180px;height:12px;display:block;border-radius:3px;background:var(--faint)}\n"
    ".bar .good{fill:var(--good)}.bar .warn{fill:var(--warn)}.bar .bad{fill:var(--bad)}\n"
    "td.best{font-weight:700}td.miss{color:var(--soft)}\n"
    ".key{width:26px;height:8px;margin-right:9px;vertical-align:2px}\n"
    ".plots{display:grid;grid-template-columns:1fr 1fr;gap:28px;margin-top:28px}\n"
    "figure{margin:0;min-width:0}\n"
    "figure svg{display:block;width:100%;height:auto;overflow:visible}\n"
    "svg text{font-size:13px;fill:var(--c)}\n"
    "svg .t{fill:var(--soft)}svg .m{text-anchor:middle}svg .e{text-anchor:end}svg "
    ".n{font-size:12px;paint-order:stroke;stroke:var(--bg);stroke-width:3px}\n"
    ".g{stroke:var(--line);fill:none}.f{stroke:var(--faint)}\n"
    ".tol{stroke:var(--soft);stroke-dasharray:5 4;fill:none}\n"
    ".l{stroke:var(--c);stroke-width:1.9;fill:none;stroke-linejoin:round;stroke-linecap:round}\n"
    ".w{stroke:var(--c);stroke-width:1;stroke-dasharray:1 3;opacity:.55;fill:none}\n"
    ".p{fill:var(--c);stroke:var(--bg);stroke-width:1}.o{fill:var(--bg);stroke:var(--c);stroke-width:1.6}\n"
    ".c,tr{transition:opacity .12s}\n"
    "footer{margin-top:64px;padding-top:20px;border-top:1px solid "
    "var(--line);color:var(--soft);font-size:15px}\n";

static const char narrow[] =
    "@media(max-width:820px){.plots{grid-template-columns:1fr}}\n"
    "@media(max-width:560px){main{padding:28px 16px 48px}h1{font-size:27px}.lead{font-size:17px}figure "
    "text{font-size:15px}"
    ".bar{width:96px}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}section{margin-top:44px}}\n";

static const char dark_base[] = "@media screen and (prefers-color-scheme:dark){\n"
                                ":root{--bg:#12151b;--fg:#e7eaf0;--soft:#9aa5b6;--line:#2c333f;--faint:#"
                                "1e232c;--panel:#191e26;--grey:#4a5362;"
                                "--good:#55d28b;--warn:#f0a94a;--bad:#ff7d8f}\n";

static const char print[] =
    "@media print{:root{color-scheme:light}main{max-width:none;padding:0}body{font-size:12px}"
    "section{margin-top:28px}h2{break-after:avoid}tr,figure,.plots{break-inside:avoid}.scroll{overflow:"
    "visible}"
    "table{font-size:10px}th{font-size:10px}td{padding-top:3px;padding-bottom:3px}"
    ".plots{grid-template-columns:1fr 1fr;gap:16px}}\n";

static void colours(tbOut* out, bool dark, int lanes)
{
  for (int i = 0; i < lanes; i++) out_format(out, ".k%d{--c:%s}", i, plot_colour(i, dark));
  tb_out_text(out, "\n");
}

void report_style(tbOut* out, int lanes)
{
  tb_out_text(out, base);
  colours(out, false, lanes);
  for (int i = LANE_COLOURS; i < lanes; i++)
    out_format(out, ".k%d .l{stroke-dasharray:%s}", i, plot_dashes(i));
  tb_out_text(out, ".b .l{stroke:var(--grey);stroke-width:1;stroke-dasharray:none}\n");
  // pointing at a name, a curve or a row brings that solver forward everywhere in its section
  for (int i = 0; i < lanes; i++)
    out_format(out,
               "section:has(.k%d:hover) .c:not(.k%d){opacity:.13}section:has(.k%d:hover) .c.k%d "
               ".l{stroke:var(--c);stroke-width:3}\n",
               i, i, i, i);
  tb_out_text(out, narrow);
  tb_out_text(out, dark_base);
  colours(out, true, lanes);
  tb_out_text(out, "}\n");
  tb_out_text(out, print);
}
