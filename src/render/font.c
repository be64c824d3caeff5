// SPDX-License-Identifier: Apache-2.0
// Letters of lines and arcs, as on a technical drawing, for any size.
//
// A letter is its width and its strokes, each a row of points of two digits x and y in base 36: the baseline
// is at y = 8, small letters reach to m (22), capitals to s (28), descenders to 2. A point behind ~ is the
// corner that a quadratic arc bends towards.
#include "render/paint.h"

static const char* const letters[] = {
    [' '] = "7",
    ['!'] = "0 0s0f 0908",
    ['"'] = "5 0s0n 5s5n",
    ['#'] = "c 3s18 bs98 0mcm 0dcd",
    ['%'] = "e es08 3s~6s6p~6m3m~0m0p~0s3s be~eeeb~e8b8~888b~8ebe",
    ['&'] = "e e82m~0s5s~as8m~6k2i~0f0d~0858~b8eh",
    ['\''] = "0 0s0n",
    ['('] = "4 4u~0q0h~0844",
    [')'] = "4 0u~4q4h~4804",
    ['*'] = "a 5s5i 1p9l 9p1l",
    ['+'] = "c 0fcf 6l69",
    [','] = "1 1905",
    ['-'] = "8 0f8f",
    ['.'] = "0 0908",
    ['/'] = "9 069s",
    ['0'] = "c 6s~csci~c868~080i~0s6s",
    ['1'] = "c 2o6s68",
    ['2'] = "c 0n~0s6s~cscm~ci08c8",
    ['3'] = "c 0o~2s6s~bsbn~bi6i~cicd~c868~180d",
    ['4'] = "c 9s0dcd 9s98",
    ['5'] = "c bs1s0j~2l6l~clce~c868~180c",
    ['6'] = "c br~9s7s~0s0e~0868~c8ce~ck6k~0k0e",
    ['7'] = "c 0scs48",
    ['8'] = "c 6s~bsbn~bi6i~1i1n~1s6s 6i~cicd~c868~080d~0i6i",
    ['9'] = "c 19~3858~c8cm~cs6s~0s0m~0g6g~cgcm",
    [':'] = "0 0908 0l0k",
    [';'] = "1 1905 1l1k",
    ['<'] = "a al0fa9",
    ['='] = "c 0ici 0ccc",
    ['>'] = "a 0laf09",
    ['?'] = "a 0n~0s5s~asan~ai5f 5958",
    ['A'] = "e 087se8 2ece",
    ['B'] = "c 0s08 0s6s~bsbn~bi6i0i 6i~cicd~c86808",
    ['C'] = "e en~cs7s~0s0i~0878~c8ed",
    ['D'] = "d 0s08 0s5s~dsdi~d85808",
    ['E'] = "b bs0s08b8 0i9i",
    ['F'] = "b bs0s08 0i9i",
    ['G'] = "e en~cs7s~0s0i~0878~e8ei8i",
    ['H'] = "d 0s08 dsd8 0idi",
    ['I'] = "0 0s08",
    ['J'] = "8 8s8e~8848~080d",
    ['K'] = "c 0s08 cs0e 4ic8",
    ['L'] = "a 0s08a8",
    ['M'] = "e 080s7eese8",
    ['N'] = "d 080sd8ds",
    ['O'] = "e 7s~esei~e878~080i~0s7s",
    ['P'] = "c 080s6s~cscm~cg6g0g",
    ['Q'] = "e 7s~esei~e878~080i~0s7s 9de7",
    ['R'] = "c 080s6s~cscm~cg6g0g 6gc8",
    ['S'] = "c cn~as6s~0s0n~0i6i~cicd~c868~280d",
    ['T'] = "c 0scs 6s68",
    ['U'] = "c 0s0f~0868~c8cfcs",
    ['V'] = "e 0s78es",
    ['W'] = "k 0s58asf8ks",
    ['X'] = "c 0sc8 cs08",
    ['Y'] = "c 0s6ics 6i68",
    ['Z'] = "c 0scs08c8",
    ['['] = "4 4u0u0444",
    ['\\'] = "9 0s96",
    [']'] = "4 0u4u4404",
    ['^'] = "a 0m5sam",
    ['_'] = "c 05c5",
    ['`'] = "4 0s4o",
    ['a'] = "c 6m~cmcf~c868~080f~0m6m cmc8",
    ['b'] = "c 6m~cmcf~c868~080f~0m6m 0s08",
    ['c'] = "b bj~9m6m~0m0f~0868~98bb",
    ['d'] = "c 6m~cmcf~c868~080f~0m6m csc8",
    ['e'] = "c 0fcf~cm6m~0m0f~0868~a8bb",
    ['f'] = "8 8s~4s4o48 0m8m",
    ['g'] = "c 6m~cmcf~c868~080f~0m6m cmc6~c262~3214",
    ['h'] = "c 0s08 0g~0m6m~cmcgc8",
    ['i'] = "0 0m08 0r0s",
    ['j'] = "4 4m46~4202 4r4s",
    ['k'] = "b 0s08 am0d 4hb8",
    ['l'] = "0 0s08",
    ['m'] = "i 0m08 0h~0m5m~9m9g98 9h~9mem~imigi8",
    ['n'] = "c 0m08 0g~0m6m~cmcgc8",
    ['o'] = "c 6m~cmcf~c868~080f~0m6m",
    ['p'] = "c 6m~cmcf~c868~080f~0m6m 0m02",
    ['q'] = "c 6m~cmcf~c868~080f~0m6m cmc2",
    ['r'] = "7 0m08 0g~0m7m",
    ['s'] = "a aj~8m5m~0m0i~0f5f~afac~a858~280b",
    ['t'] = "8 4s4c~4888 0m8m",
    ['u'] = "c 0m0e~0868~c8ce cmc8",
    ['v'] = "c 0m68cm",
    ['w'] = "i 0m489me8im",
    ['x'] = "b 0mb8 bm08",
    ['y'] = "c 0m68 cm68~4202",
    ['z'] = "a 0mam08a8",
    ['{'] = "6 6u~3u3q3k~3h0h~3h3e38~3464",
    ['|'] = "0 0u02",
    ['}'] = "6 0u~3u3q3k~3h6h~3h3e38~3404",
    ['~'] = "c 0d~0h3h~6h6f~6d9d~cdch",
};

enum { CAPITALS = 20, SPACING = 6, ARC = 6 };

static int digit(char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; }

// What is not in ASCII, one letter of UTF-8 after the other, is a box.
static const char* letter_of(char c)
{
  unsigned u = (unsigned char)c;
  const char* found = u < sizeof letters / sizeof *letters ? letters[u] : NULL;
  return found ? found : "a 0sas a808 0s08 asa8";
}

static bool inside_letter(char c) { return ((unsigned char)c & 0xC0) == 0x80; } // of UTF-8

typedef struct {
  const tbCanvas* canvas;
  tbPoint origin;
  double unit, width;
  const tbInk* ink;
} Pen;

static tbPoint point_of(const Pen* pen, const char* at)
{
  return (tbPoint){pen->origin.x + pen->unit * digit(at[0]), pen->origin.y - pen->unit * (digit(at[1]) - 8)};
}

static void arc(const Pen* pen, tbPoint a, tbPoint c, tbPoint b)
{
  tbPoint last = a;
  for (int i = 1; i <= ARC; i++) {
    double t = (double)i / ARC, s = 1 - t;
    tbPoint next = {s * s * a.x + 2 * s * t * c.x + t * t * b.x, s * s * a.y + 2 * s * t * c.y + t * t * b.y};
    tb_paint_line(pen->canvas, last, next, pen->width, pen->ink);
    last = next;
  }
}

static void draw_letter(const Pen* pen, const char* stroke)
{
  tbPoint at = {0, 0};
  bool begun = false;
  while (*stroke) {
    if (*stroke == ' ') {
      begun = false, stroke++;
      continue;
    }
    bool bent = *stroke == '~';
    tbPoint next = point_of(pen, stroke + bent);
    stroke += bent + 2;
    if (bent) {
      tbPoint corner = next;
      next = point_of(pen, stroke);
      stroke += 2;
      arc(pen, at, corner, next);
    } else if (begun) tb_paint_line(pen->canvas, at, next, pen->width, pen->ink);
    at = next, begun = true;
  }
}

void tb_paint_text(const tbCanvas* canvas, tbPoint at, double height, double weight, const char* text,
                   const tbInk* ink)
{
  double unit = height / CAPITALS;
  for (Pen pen = {canvas, at, unit, weight * height, ink}; *text; text++) {
    if (inside_letter(*text)) continue;
    const char* letter = letter_of(*text);
    if (letter[1]) draw_letter(&pen, letter + 2);
    pen.origin.x += unit * (digit(letter[0]) + SPACING);
  }
}

double tb_text_width(double height, const char* text)
{
  double width = 0;
  for (; *text; text++)
    if (!inside_letter(*text)) width += digit(letter_of(*text)[0]) + SPACING;
  return width * height / CAPITALS;
}
