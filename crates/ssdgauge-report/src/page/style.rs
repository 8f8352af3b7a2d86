//! The style sheet of the page: one column, quiet tables, colours for light, dark and paper.
//!
//! Print shows only open sections: all folded tables would take hundreds of pages.

use crate::figure::draw::{PALETTE_DARK, PALETTE_LIGHT};
use std::fmt::Write;

/// Returns the style sheet.
pub(super) fn sheet() -> String {
    let light = format!("{LIGHT}{}", palette(&PALETTE_LIGHT));
    let dark = format!("{DARK}{}", palette(&PALETTE_DARK));
    let mut swatches = String::new();
    for number in 0..PALETTE_LIGHT.len() {
        write!(swatches, ".s{number}{{color:var(--c{number})}}")
            .expect("writing to memory cannot fail");
    }
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media(prefers-color-scheme:dark){{:root{{{dark}}}}}\
         @media print{{:root{{color-scheme:light;{light}}}}}\
         {swatches}{RULES}"
    )
}

fn palette(colours: &[&str]) -> String {
    colours.iter().enumerate().map(|(number, colour)| format!("--c{number}:{colour};")).collect()
}

const LIGHT: &str = "--ground:#fbfbfa;--panel:#ffffff;--text:#1d2329;--muted:#5b6670;\
    --grid:#e3e7ea;--axis:#8a949d;--line:#dde2e6;--link:#005a8f;--warn:#8a5200;\
    --warn-ground:#fff6e5;--bad:#a1201a;--bad-ground:#fdeceb;--model:#5a2a82;\
    --model-ground:#f4ecfb;";

const DARK: &str = "--ground:#14171a;--panel:#1b1f23;--text:#e6e9ec;--muted:#a3adb6;\
    --grid:#2c3338;--axis:#78838c;--line:#30373d;--link:#7cc4f2;--warn:#f3c06b;\
    --warn-ground:#33270f;--bad:#ff9b94;--bad-ground:#3a1a18;--model:#d9b8f5;\
    --model-ground:#2c1d3a;";

const RULES: &str = r#"
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--text);
 font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans","DejaVu Sans",sans-serif}
header.page,main,footer.page{max-width:56rem;margin:0 auto;padding:0 1.25rem}
header.page{padding-top:2.5rem}
.kicker{margin:0;color:var(--muted);font-size:.8rem;letter-spacing:.08em;text-transform:uppercase}
h1{font-size:2rem;line-height:1.2;margin:.2rem 0 1rem;overflow-wrap:anywhere}
h2{font-size:1.4rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}
h3{font-size:1.05rem;margin:1.2rem 0 .4rem}
p{margin:.4rem 0}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:2px}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--panel);padding:.5rem}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.small,.protocol,.chosen,.settings,.note,footer.page{color:var(--muted);font-size:.9rem}
.chosen b{font-weight:600;color:var(--text)}
code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.9em}
.banner{margin:0;padding:.6rem 1.25rem;text-align:center;background:var(--warn-ground);color:var(--warn);
 border-bottom:1px solid var(--line);font-size:.92rem}
.banner.model{background:var(--model-ground);color:var(--model)}
.banner strong{letter-spacing:.06em}
dl.origin{display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;margin:0 0 .8rem}
dl.origin div{min-width:0}
dl.origin dt{color:var(--muted);font-size:.75rem}
dl.origin dd{margin:0;font-size:.92rem;overflow-wrap:anywhere}
dl.origin .mark{flex-basis:100%}
dl.origin .mark dd{font-weight:700;color:var(--warn)}
.swatch{display:inline-block;background:currentColor;width:.8em;height:.8em;border-radius:50%;margin-right:.45em;
 print-color-adjust:exact;-webkit-print-color-adjust:exact}
.swatch.turn1{border-radius:0}
.swatch.turn2{border-radius:0;clip-path:polygon(50% 0,100% 100%,0 100%)}
.swatch.turn3{border-radius:0;clip-path:polygon(50% 0,100% 50%,50% 100%,0 50%)}
section{background:var(--panel);border:1px solid var(--line);border-radius:10px;
 padding:1.3rem 1.4rem 1.4rem;margin:1.2rem 0}
.scroll{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums lining-nums}
caption{text-align:left;color:var(--muted);font-size:.8rem;padding-bottom:.2rem}
th,td{padding:.34rem .6rem;text-align:left;vertical-align:baseline;border-bottom:1px solid var(--line)}
thead th{color:var(--muted);font-weight:500;font-size:.78rem;border-bottom:1px solid var(--axis);vertical-align:bottom}
tbody th{font-weight:500;overflow-wrap:break-word;min-width:9rem}
.words{min-width:11rem}
tbody tr:last-child>*{border-bottom:0}
.n{text-align:right;white-space:nowrap}
thead .n{white-space:normal;min-width:4.4rem}
.five tbody tr.highlight>*{background:var(--ground)}
.five .n{white-space:normal}
.five thead .n{min-width:5.4rem}
.five td::before{content:none}
.verdict.met{font-weight:700}
.verdict.not-met{font-weight:700;color:var(--bad)}
.verdict.not-comparable{color:var(--muted)}
dl.portraits{margin:.4rem 0}
dl.portraits dt{font-weight:600;margin-top:.6rem}
dl.portraits dd{margin:0}
dl.portraits ul{margin:.2rem 0;padding-left:1.9rem}
ul.verdict{margin:.6rem 0;padding-left:1.2rem}
ul.verdict li{margin:.25rem 0}
.result{font-size:1rem}
.result b{font-size:1.15rem}
.value{font-weight:700}
.interval{display:block;color:var(--muted);font-size:.78rem}
.marks{color:var(--warn);font-size:.75rem;font-weight:700}
figure{margin:1.6rem 0 0}
figcaption{margin-bottom:.5rem;line-height:1.4}
figcaption strong{display:block;font-size:1rem}
.note{font-size:.83rem}
.chart svg{display:block;width:100%;height:auto;font-variant-numeric:tabular-nums}
.chart.narrow{display:none}
details.more{margin-top:1.4rem}
.chart svg,.chart svg text{font-family:inherit}
details{margin:.6rem 0 0}
summary{cursor:pointer;color:var(--link);font-size:.88rem;width:fit-content}
details.numbers{margin-top:1.4rem}
ul.findings{list-style:none;margin:.7rem 0;padding:0;font-size:.9rem}
ul.findings li{padding:.4rem .7rem;margin:.3rem 0;border-left:3px solid var(--axis);background:var(--ground);
 border-radius:0 6px 6px 0;overflow-wrap:anywhere}
ul.findings li.warning{border-color:var(--warn);background:var(--warn-ground)}
ul.findings li.invalid{border-color:var(--bad);background:var(--bad-ground)}
.badge{font-size:.7rem;font-weight:700;letter-spacing:.05em;text-transform:uppercase;color:var(--muted);margin-right:.3rem}
.warning .badge{color:var(--warn)}
.invalid .badge{color:var(--bad)}
.advice{color:var(--muted)}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(19rem,1fr));gap:0 2rem;align-items:start}
.columns td{overflow-wrap:anywhere}
footer.page{padding-bottom:3rem}
@media(max-width:40rem){
 header.page,main,footer.page{padding-left:.7rem;padding-right:.7rem}
 header.page{padding-top:1.4rem}
 h1{font-size:1.5rem}
 section{padding:1rem .9rem;border-radius:8px}
 .columns{grid-template-columns:1fr}
 .five thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
 .five,.five tbody,.five tr,.five caption{display:block}
 .five tbody th{display:flex;align-items:baseline;border-bottom:0;padding:.15rem .3rem}
 .five tbody td{display:grid;grid-template-columns:1fr auto;gap:0 .8rem;border-bottom:0;padding:.15rem .3rem}
 .five tbody td::before{content:attr(data-label);grid-row:1/span 2;color:var(--muted);text-align:left}
 .five tbody td>*{grid-column:2;text-align:right}
 .five tbody tr{border-bottom:1px solid var(--line);padding:.35rem 0}
}
@media screen and (max-width:40rem){
 .chart.wide{display:none}
 .chart.narrow{display:block}
}
@media print{
 body{background:#fff;font-size:10.5pt}
 header.page,main,footer.page{max-width:none;padding:0}
 section{border:0;padding:0;margin:1.4rem 0 0;background:none}
 .chart,figcaption,tr,ul.findings li{break-inside:avoid}
 h2,h3,figcaption,figcaption *,.protocol{break-after:avoid}
 .scroll,.chart{overflow:visible}
 main details:not([open]){display:none}
 summary{list-style:none;color:var(--muted)}
 details.numbers table{font-size:6.5pt}
 details.numbers :is(th,td){padding:.2rem;min-width:0}
 a{color:inherit;text-decoration:none}
 .skip{display:none}
}
"#;
