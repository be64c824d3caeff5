// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"
#include "test.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_of(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double read_all(const char* text)
{
  double x = NAN;
  const char* end = text + strlen(text);
  return tb_read_double(text, end, &x) == end ? x : NAN;
}

// The C library's own conversion is the judge; the tests run in the "C" locale.
static void check_like_strtod(const char* text)
{
  double ours = read_all(text), theirs = strtod(text, NULL);
  if (bits_of(ours) != bits_of(theirs))
    test_failed(__FILE__, __LINE__, "%.60s reads as %a, not %a", text, ours, theirs);
}

// The digits of a number without point, exponent and outer zeros.
static void only_digits(const char* text, char out[40])
{
  int n = 0;
  for (; *text && *text != 'e'; text++)
    if (*text != '.' && (n > 0 || *text != '0')) out[n++] = *text;
  while (n > 0 && out[n - 1] == '0') n--;
  out[n] = 0;
}

// x > 0 must be written with the digits of the first of %.15g, %.16g, %.17g that reads back the same.
static void check_shortest(double x)
{
  char ours[TB_DOUBLE_TEXT], theirs[64] = "", a[40], b[40];
  tb_format_double(x, ours);
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(theirs, sizeof theirs, "%.*e", digits - 1, x);
    if (strtod(theirs, NULL) == x) break;
  }
  only_digits(ours, a);
  only_digits(theirs, b);
  if (strcmp(a, b) != 0 || strtod(ours, NULL) != x)
    test_failed(__FILE__, __LINE__, "%a is written %s, not %s", x, ours, theirs);
}

TEST(hard_decimals_are_rounded_correctly)
{
  static const char* const hard[] = {
      "0",
      "-0",
      "1",
      "0.1",
      "1e23",
      "8.41e21",
      "9007199254740993",
      "9007199254740992.5",
      "9007199254740993.0000000000000000000000000000000001",
      "9007199254740992.9999999999999999999999999999999",
      "9007199254740995",
      "1.7976931348623157e308",
      "1.7976931348623158e308",
      "1.7976931348623159e308",
      "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096"
      "330286"
      "416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069"
      "855571"
      "366959622842914819860834936475292719074168444365510704342711559699508093042880e0",
      "2.2250738585072011e-308",
      "2.2250738585072012e-308",
      "2.2250738585072014e-308",
      "4.9e-324",
      "5e-324",
      "2.4703282292062327208e-324",
      "2.4703282292062328e-324",
      "2.470328229206232720e-324",
      "2.5e-324",
      "1e-400",
      "0.000000000000000000000000000000000000000000000000000000000000000000001e69",
      "1e-1000000000000000000000",
      "0e1000000000000000000000",
      "123456789012345678901234567890",
      "1.00000000000000011102230246251565404236316680908203125",
      "1.00000000000000011102230246251565404236316680908203124",
      "1.00000000000000011102230246251565404236316680908203126",
      "18446744073709551615",
      "18446744073709551616",
      "9999999999999999999",
      "10000000000000000000000000000000000000000",
      "3.518437208883201171875e13",
      "62.5364939768271845828",
      "8.10109172351e-10",
      "6.9294956446009195e15",
      "7.0420557077594588669468784357561207962098443483187940792729600000e59",
      "6.631236846766476e-316",
      "3."
      "237883913302901289588352412501532174863037669423108059901297049552301970670676565786835742587799557860"
      "6157"
      "765598382834355143910841531692526891905643964595773946180389283653051434639551003566966656292020173313"
      "440317"
      "300443693602052583458034314716600326995807313009548483639755486900107515300188817581841745696521731104"
      "736960"
      "227499346384253806233697747365600089974040609674980283891918789639685754392222064169814626901133425240"
      "027243"
      "859416510512935526014211553334302252372915238433223313261384314778235911424088000307751706259156707286"
      "570031"
      "519536642607698224949379518458015308952384398197084033899378732414634842056080000272705311068273879077"
      "914449"
      "185347715987501628125488627684932015189916680282517302999531439241685457086639132732646500000000000000"
      "000e-32"
      "4"};
  for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) check_like_strtod(hard[i]);
  CHECK(read_all("1e309") == INFINITY && read_all("-1e400") == -INFINITY);
  CHECK(bits_of(read_all("-1e-400")) == bits_of(-0.0));
}

// For each entry of the table of powers, the numbers of up to 19 digits that come nearest to a halfway point
// from above and below, found by continued fractions of 10^q / 2^e. Most are 2^-117 away: a wrong bit in
// the table shows, down to its last ten.
TEST(nearly_halfway_numbers_are_rounded_correctly)
{
  static const char* const near[] = {
      "3514535971691707292e-338", "7275116635012355363e-339", "7749973840892428987e-312",
      "2577984551429631682e-326", "9874227164451734787e-297", "8355535952847819945e-295",
      "7973358203475556115e-257", "4326449254636081441e-267", "6364794929627113791e-232",
      "8016996639253144193e-235", "3819679239585126275e-221", "3615290913634952013e-214",
      "6536997556035455193e-184", "6764958008109694533e-173", "6500609922920713997e-167",
      "7998060467118079197e-168", "5554681572821496849e-113", "6814712519365326445e-119",
      "4118524906071872009e-99",  "7871042307410919273e-87",  "2219510890804279001e-65",
      "3507665085003296281e-73",  "9552373843642058601e-30",  "5573329417113950893e-43",
      "1142457831393125959e-27",  "869145719979099165e-27",   "1372425754551782825e27",
      "3182586621140285025e24",   "9464705006104218967e36",   "2002187222588123953e40",
      "7322325862592278999e74",   "8201109267742205045e61",   "9789510569809118153e108",
      "9409928220272504895e97",   "8643988913946659879e115",  "7120190517612959703e120",
      "8680479060971008717e164",  "9299437776150998265e157",  "4910752227244997517e175",
      "8531063483820583261e195",  "6802601037806061975e198",  "4394350632958684507e208",
      "6496515517405105799e233",  "7555784487484408317e227",  "5373990252698096211e263",
      "4396082172289019085e279",  "2334563134503329943e287",  "4499054460863230815e282"};
  for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) check_like_strtod(near[i]);
}

TEST(the_smallest_subnormals_are_written_as_printf_does)
{
  for (uint64_t bits = 1; bits <= 20000; bits++) check_shortest(double_of(bits));
}

TEST(points_halfway_between_doubles_round_to_even)
{
  // Exact halfway points with up to 767 digits, and their neighbours a hair away.
  tbRandom r = test_random(3);
  for (int i = 0; i < 3000; i++) {
    double x = double_of(test_bits(&r) & ~(1ull << 63)), next = nextafter(x, INFINITY);
    if (!isfinite(x) || !isfinite(next)) continue;
    if (i % 3 == 0) x = x * 0x1p-1000, next = nextafter(x, INFINITY); // often subnormal
    char text[1300];
    long double middle = ((long double)x + (long double)next) / 2;
    int length = snprintf(text, sizeof text - 8, "%.800Le", middle);
    if (length <= 0 || (size_t)length >= sizeof text - 8) continue;
    check_like_strtod(text);
    char* e = strchr(text, 'e');
    memmove(e + 1, e, strlen(e) + 1);
    *e = '1';
    check_like_strtod(text);
  }
}

TEST(random_decimals_read_as_the_c_library_reads_them)
{
  tbRandom r = test_random(1);
  for (int i = 0; i < 200000; i++) {
    char text[80];
    int digits = 1 + test_below(&r, i % 10 == 0 ? 40 : 19), point = test_below(&r, digits + 1), n = 0;
    for (int k = 0; k < digits; k++) {
      if (k == point && k > 0) text[n++] = '.';
      text[n++] = (char)('0' + test_below(&r, 10));
    }
    int range = i % 2 ? 30 : 345;
    snprintf(text + n, sizeof text - (size_t)n, "e%d", test_below(&r, 2 * range) - range);
    check_like_strtod(text);
  }
}

TEST(a_million_random_doubles_survive_text)
{
  tbRandom r = test_random(2);
  char text[TB_DOUBLE_TEXT];
  int wrong = 0, longest = 0;
  for (int i = 0; i < 1000000; i++) {
    double x = double_of(test_bits(&r)), back = 0;
    if (!isfinite(x)) continue;
    int length = tb_format_double(x, text);
    wrong += tb_read_double(text, text + length, &back) != text + length || bits_of(back) != bits_of(x);
    if (length > longest) longest = length;
  }
  CHECK(wrong == 0);
  CHECK(longest < TB_DOUBLE_TEXT);
}

TEST(text_is_the_shortest_of_15_16_17_digits)
{
  tbRandom r = test_random(4);
  for (int i = 0; i < 100000; i++) {
    double x = double_of(test_bits(&r) & ~(1ull << 63));
    if (i % 3 == 1) x = round(test_uniform(&r, 0, 1e6)) / 1e3;
    if (i % 3 == 2)
      x = (0x1p52 + (double)(test_bits(&r) >> 12)) * (i % 2 ? 2 : 0.5); // many end in 5 or 50: ties
    if (!isfinite(x) || x == 0) continue;
    check_shortest(x);
  }
}

TEST(doubles_look_as_a_person_would_write_them)
{
  static const struct {
    double x;
    const char* text;
  } cases[] = {{0, "0"},
               {-0.0, "-0"},
               {1, "1"},
               {-9.81, "-9.81"},
               {0.1, "0.1"},
               {0.00001, "0.00001"},
               {0.000001, "1e-6"},
               {1.5e-7, "1.5e-7"},
               {12000, "12000"},
               {1e16, "10000000000000000"},
               {1e17, "1e17"},
               {123.456, "123.456"},
               {1e100, "1e100"},
               {-1.25e-100, "-1.25e-100"},
               {1.7976931348623157e308, "1.7976931348623157e308"},
               {0.30000000000000004, "0.30000000000000004"},
               {9007199254740993.0, "9007199254740992"},
               {INFINITY, "inf"},
               {-INFINITY, "-inf"},
               {NAN, "nan"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[TB_DOUBLE_TEXT];
    int length = tb_format_double(cases[i].x, text);
    if (strcmp(text, cases[i].text) != 0 || length != (int)strlen(text))
      test_failed(__FILE__, __LINE__, "%s instead of %s", text, cases[i].text);
  }
}

TEST(numbers_do_not_depend_on_the_locale)
{
  static const char* const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "fr_FR.utf8"};
  const char* set = NULL;
  for (size_t i = 0; i < sizeof commas / sizeof commas[0] && !set; i++)
    set = setlocale(LC_NUMERIC, commas[i]);
  char text[TB_DOUBLE_TEXT];
  tb_format_double(1234.5, text);
  CHECK(strcmp(text, "1234.5") == 0 && read_all("1234.5") == 1234.5);
  setlocale(LC_NUMERIC, "C");
  if (!set) SKIP("no locale with a decimal comma is installed");
}

TEST(scanning_stops_where_the_number_ends)
{
  static const struct {
    const char* text;
    int used;
  } cases[] = {{"12,5", 2}, {"1e", 1}, {"1e+", 1}, {"1.5.2", 3}, {"-", 0},    {"", 0},     {".", 0},
               {".5x", 2},  {"5.", 2}, {"+3 ", 2}, {"abc", 0},   {"-.e1", 0}, {"0x10", 1}, {"1e5e5", 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double x;
    const char* text = cases[i].text;
    int used = (int)(tb_read_double(text, text + strlen(text), &x) - text);
    if (used != cases[i].used) test_failed(__FILE__, __LINE__, "\"%s\": %d used", text, used);
  }
}
