/* Reads texts with an automaton of whole numbers. runtime.js computes the same numbers, bit for bit: every division rounds
   down, and nothing leaves 53 bits, up to which the numbers of JavaScript are exact. */

#include <string.h>

#if WFA_DENSE && WFA_ROW_ONE == 255 && defined(__SSE2__)
#include <emmintrin.h>
#define SSE2 1
#else
#define SSE2 0
#endif

#define ONE WFA_ONE /* of outputs, nodes of quadrature and steps of the linear kind */
#define NO_CODE UINT32_MAX

/* x / 2^bits, rounded down */
static int64_t shifted(int64_t x, unsigned bits) { return x >= 0 ? x >> bits : ~(~x >> bits); }

/* --- texts to code points */

static size_t decode(const unsigned char *text, size_t at, size_t end, uint32_t *code) {
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  unsigned lead = text[at], more = lead < 0xC2 ? 4 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 4;
  uint32_t value = lead & (0x3Fu >> more);
  if (lead < 0x80) {
    *code = lead;
    return at + 1;
  }
  if (more < 4 && end - at > more) {
    unsigned k;
    for (k = 1; k <= more && (text[at + k] & 0xC0u) == 0x80u; k++) value = value * 64 + (text[at + k] & 0x3Fu);
    if (k > more && value >= least[more] && value < 0x110000u) {
      *code = value;
      return at + more + 1;
    }
  }
  *code = 0xFFFD;
  return at + 1;
}

#if !WFA_GRAM || WFA_STRIP
static int is_space(uint32_t code) {
  if (code > 0x20 && code < 0x85) return 0;
  return (code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x20) || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}
#endif

#if WFA_LOWER || WFA_TITLE
/* the row of `width` numbers whose first one is the last that is not above `code`; rows: there is none */
static size_t row_of(const int32_t *table, size_t rows, size_t width, uint32_t code) {
  size_t low = 0, high = rows;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if ((uint32_t)table[middle * width] <= code) low = middle + 1;
    else high = middle;
  }
  return low == 0 ? rows : low - 1;
}

static uint32_t moved(const int32_t *runs, size_t rows, uint32_t code) {
  size_t row = row_of(runs, rows, 4, code);
  const int32_t *run = runs + 4 * row;
  if (row == rows || code > (uint32_t)run[1] || (code - (uint32_t)run[0]) % (uint32_t)run[2]) return code;
  return (uint32_t)((int32_t)code + run[3]);
}
#define MOVED(runs, code) moved(runs, sizeof(runs) / sizeof((runs)[0]) / 4, code)
#endif

#if WFA_SIGMA || WFA_TITLE
static int within(const int32_t *ranges, size_t rows, uint32_t code) {
  size_t row = row_of(ranges, rows, 2, code);
  return row < rows && code <= (uint32_t)ranges[2 * row + 1];
}
#define WITHIN(ranges, code) within(ranges, sizeof(ranges) / sizeof((ranges)[0]) / 2, code)
#endif

#if WFA_QUOTES
static uint32_t typewritten(uint32_t code) {
  switch (code) {
    case 0x2018: case 0x2019: case 0x201A: case 0x201B: case 0x2032: return '\'';
    case 0x201C: case 0x201D: case 0x201E: case 0x201F: case 0x2033: case 0xAB: case 0xBB: return '"';
    default: return code;
  }
}
#endif

typedef struct {
  const unsigned char *text;
  size_t begin, at, end;   /* of the text without blanks around it, where that is asked */
  size_t first, last;      /* where the code point that was read last stands */
  uint32_t queue[2];       /* code points that are to come of one that became several */
  unsigned queued;
  int after_cased;
} reader;

#if WFA_SIGMA
static uint32_t seen_code(const reader *from, size_t at, size_t *next) {
  uint32_t code;
  *next = decode(from->text, at, from->end, &code);
#if WFA_QUOTES == 1
  code = typewritten(code);
#endif
  return code;
}

/* whether the next code point that case does not ignore is cased */
static int cased_ahead(const reader *from, size_t at) {
  while (at < from->end) {
    uint32_t code = seen_code(from, at, &at);
    if (!WITHIN(wfa_ignorable, code)) return WITHIN(wfa_cased, code);
  }
  return 0;
}

static int cased_behind(const reader *from, size_t at) {
  while (at > from->begin) {
    size_t start = at - 1, next, steps = 0;
    uint32_t code;
    while (start > from->begin && steps < 3 && (from->text[start] & 0xC0u) == 0x80u) start--, steps++;
    code = seen_code(from, start, &next);
    if (next != at) { /* not UTF-8: the byte before stands for itself */
      start = at - 1;
      code = 0xFFFD;
    }
    if (!WITHIN(wfa_ignorable, code)) return WITHIN(wfa_cased, code);
    at = start;
  }
  return 0;
}
#endif

#if WFA_LOWER || WFA_TITLE
static uint32_t small(reader *from, uint32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  if (code == 0x130) { /* the one letter whose small form has two code points */
    from->queue[0] = 0x307;
    from->queued = 1;
    return 'i';
  }
#if WFA_SIGMA
  if (code == 0x3A3 && cased_behind(from, from->first) && !cased_ahead(from, from->last)) return 0x3C2;
#endif
  return MOVED(wfa_lower_runs, code);
}
#endif

#if WFA_TITLE
static uint32_t large(reader *from, uint32_t code) {
  size_t rows = sizeof(wfa_title_long) / sizeof(wfa_title_long[0]) / 4, row = row_of(wfa_title_long, rows, 4, code);
  const int32_t *letters = wfa_title_long + 4 * row;
  if (row == rows || (uint32_t)letters[0] != code) return MOVED(wfa_title_runs, code);
  from->queued = letters[3] ? 2 : 1; /* taken from the end */
  from->queue[letters[3] ? 1 : 0] = (uint32_t)letters[2];
  if (letters[3]) from->queue[0] = (uint32_t)letters[3];
  return (uint32_t)letters[1];
}
#endif

/* the next code point after quotation marks and case are changed */
static uint32_t next_code(reader *from) {
  uint32_t code;
  if (from->queued) return from->queue[--from->queued];
  if (from->at >= from->end) return NO_CODE;
  from->first = from->at;
  from->last = from->at = decode(from->text, from->at, from->end, &code);
#if WFA_QUOTES == 1
  code = typewritten(code);
#endif
#if WFA_LOWER
  code = small(from, code);
#elif WFA_TITLE
  {
    int cased = WITHIN(wfa_cased, code);
    code = from->after_cased ? small(from, code) : large(from, code);
    from->after_cased = cased;
  }
#endif
#if WFA_QUOTES == 2
  code = typewritten(code);
#endif
  return code;
}

static void start_reading(reader *from, const char *text, size_t bytes) {
  memset(from, 0, sizeof *from);
  from->text = (const unsigned char *)text;
  from->end = bytes;
#if WFA_STRIP
  {
    uint32_t code;
    size_t at = 0, next, end = 0;
    int inside = 0;
    for (; at < bytes; at = next) {
      next = decode(from->text, at, bytes, &code);
      if (is_space(code)) continue;
      if (!inside) from->begin = at;
      inside = 1;
      end = next;
    }
    from->at = from->begin;
    from->end = end;
  }
#endif
}

/* --- code points to words */

/* two hashes of a word's code points */
typedef struct {
  uint32_t a, b;
} word_hash;

static const word_hash no_letters = {WFA_WORD_SEED, WFA_WORD_SEED};

static word_hash with_letter(word_hash word, uint32_t code) {
  word.a = (word.a ^ code) * 0x9E3779B1u;
  word.b = (word.b ^ code) * 0x85EBCA77u;
  return word;
}

/* A perfect hash: one hash gives the bucket, whose pilot and the other hash give the only place where the word can be. There
   stand 24 bits of the first hash, and the entry. */
static void look_up(word_hash word, wfa_token *token) {
#if WFA_WORD_COUNT
  const uint32_t pilot = wfa_pilots[(uint64_t)word.a * WFA_WORD_BUCKETS >> 32];
  const uint32_t mixed = (word.b ^ pilot * 0x9E3779B1u) * 0x85EBCA6Bu;
  const uint8_t *at = wfa_words + ((uint64_t)mixed * WFA_WORD_SLOTS >> 32) * (4 + WFA_WIDE_ENTRIES);
  uint32_t entry = at[3];
#if WFA_WIDE_ENTRIES
  entry |= (uint32_t)at[4] << 8;
#endif
  token->known = ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16) == word.a >> 8;
  token->entry = (uint16_t)(token->known ? entry : 0);
#else
  (void)word;
  token->entry = 0;
  token->known = 0;
#endif
}

#if WFA_GRAM
typedef struct {
  reader from;
  uint32_t codes[WFA_GRAM]; /* the last ones, in a ring */
  size_t places[WFA_GRAM];
  size_t count;
} splitter;

static void start_splitting(splitter *words, const char *text, size_t bytes) {
  start_reading(&words->from, text, bytes);
  words->count = 0;
}

static int next_token(splitter *words, wfa_token *token) {
  word_hash word = no_letters;
  size_t k;
  do {
    uint32_t code = next_code(&words->from);
    if (code == NO_CODE) return 0;
    words->codes[words->count % WFA_GRAM] = code;
    words->places[words->count % WFA_GRAM] = words->from.first;
    words->count++;
  } while (words->count < WFA_GRAM);
  for (k = 0; k < WFA_GRAM; k++) word = with_letter(word, words->codes[(words->count + k) % WFA_GRAM]);
  token->first = words->places[words->count % WFA_GRAM];
  token->end = words->from.last;
  look_up(word, token);
  return 1;
}
#else
typedef struct {
  reader from;
} splitter;

static void start_splitting(splitter *words, const char *text, size_t bytes) { start_reading(&words->from, text, bytes); }

#if WFA_BASIC
static int is_mark(uint32_t code) {
  return code == '.' || code == ',' || code == '(' || code == ')' || code == '!' || code == '?' || code == '\'';
}

/* whether a line break of HTML stands here, in capitals or not; it is skipped */
static int skips_break(reader *from) {
  const unsigned char *text = from->text + from->at;
  if (from->end - from->at < 5 || (text[0] | 32) != 'b' || (text[1] | 32) != 'r' || memcmp(text + 2, " />", 3)) return 0;
  from->at += 5;
  return 1;
}
#endif

static int next_token(splitter *words, wfa_token *token) {
  reader *from = &words->from;
  word_hash word = no_letters;
  int begun = 0;
  for (;;) {
    uint32_t code = 0;
    if (!from->queued) { /* most of a text is bytes that are letters or blanks whatever stands around them */
      size_t at = from->at;
      for (; at < from->end && (code = wfa_plain[from->text[at]]) > ' '; at++) word = with_letter(word, code);
      if (at > from->at) {
        if (!begun) token->first = from->at;
        begun = 1;
        token->end = from->at = at;
      }
      if (at < from->end && code == ' ') {
        from->at++;
        if (begun) break;
        continue;
      }
    }
    code = next_code(from);
    if (code == NO_CODE) break;
#if WFA_BASIC
    if (code == '"') continue;
    if (code == '<' && skips_break(from)) code = ' ';
    if (is_mark(code) && begun) { /* a token itself, which the next call reads */
      from->at = from->first;
      break;
    }
#endif
    if (is_space(code)) {
      if (begun) break;
      continue;
    }
    if (!begun) token->first = from->first;
    begun = 1;
    token->end = from->last;
    word = with_letter(word, code);
#if WFA_BASIC
    if (is_mark(code)) break;
#endif
  }
  if (begun) look_up(word, token);
  return begun;
}
#endif

/* the first word that is read where a text loses its beginning */
static size_t skipped_words(const char *text, size_t bytes) {
#if WFA_MAX_LENGTH && WFA_KEEPS_END
  splitter words;
  wfa_token token;
  size_t count = 0;
  start_splitting(&words, text, bytes);
  while (next_token(&words, &token)) count++;
  return count > WFA_MAX_LENGTH ? count - WFA_MAX_LENGTH : 0;
#else
  (void)text;
  (void)bytes;
  return 0;
#endif
}

size_t wfa_tokens(const char *text, size_t bytes, wfa_token *tokens, size_t room) {
  splitter words;
  wfa_token token;
  size_t skipped = skipped_words(text, bytes), count = 0;
  start_splitting(&words, text, bytes);
  while (next_token(&words, &token)) {
    if (skipped) {
      skipped--;
      continue;
    }
    if (count < room) tokens[count] = token;
    count++;
#if WFA_MAX_LENGTH && !WFA_KEEPS_END
    if (count == WFA_MAX_LENGTH) break;
#endif
  }
  return count;
}

#if !WFA_LINEAR
/* --- stochastic kinds: a distribution of whole numbers that sum to WFA_STATE_ONE */

#if WFA_STATE_ONE <= UINT16_MAX
typedef uint16_t state_number;
#else
typedef uint32_t state_number;
#endif
#define LANES 8
#define BLOCKS ((WFA_STATES + LANES - 1) / LANES)
#define ROOM (BLOCKS * LANES) /* of a state, whose last numbers may be 0 */
#define PAIRS ((WFA_STATES + 1) / 2)
#define CHANGE_ONE_BITS 0
#define COLUMN_FACTOR 1

static void start_state(state_number *d) {
  memset(d, 0, ROOM * sizeof *d);
  d[0] = WFA_STATE_ONE;
}

/* what rounding took of the state, which goes to state 0 with the next word */
static wfa_sum missing_mass(const state_number *d) {
#if WFA_LOSSY
  (void)d;
  return 0;
#else
  uint32_t mass = 0;
  size_t j;
  for (j = 0; j < ROOM; j++) mass += d[j];
  return WFA_STATE_ONE - mass;
#endif
}

#if SSE2
#define VECTOR(from) _mm_loadu_si128((const __m128i *)(const void *)(from))

/* 255 times what is missing, in the first number */
static __m128i missing_part(const state_number *d) {
  __m128i mass = _mm_setzero_si128(), missing;
  size_t at;
  for (at = 0; at < ROOM; at += LANES) mass = _mm_add_epi32(mass, _mm_madd_epi16(VECTOR(d + at), _mm_set1_epi16(1)));
  mass = _mm_add_epi32(mass, _mm_shuffle_epi32(mass, 0x4E));
  mass = _mm_add_epi32(mass, _mm_shuffle_epi32(mass, 0xB1));
  missing = _mm_sub_epi32(_mm_cvtsi32_si128(WFA_STATE_ONE), mass);
  return _mm_and_si128(_mm_sub_epi32(_mm_slli_epi32(missing, 8), missing), _mm_cvtsi32_si128(-!WFA_LOSSY));
}

/* as part_of_row */
static __m128i parts_of_rows(__m128i x) {
  const __m128i more = _mm_add_epi32(x, _mm_set1_epi32(1));
  return _mm_srli_epi32(_mm_add_epi32(more, _mm_srli_epi32(_mm_add_epi32(more, _mm_srli_epi32(x, 8)), 8)), 8);
}
#else
static wfa_sum part_of_row(wfa_sum x) {
#if WFA_ROW_ONE == 255
  return (x + ((x + (x >> 8) + 1) >> 8) + 1) >> 8; /* x / 255, rounded down, up to 2^22 and more */
#else
  return x / WFA_ROW_ONE;
#endif
}
#endif

/* d -> d*E. Dense rows stand in pairs, in blocks of columns. */
static void step(const state_number *restrict d, size_t entry, state_number *restrict after) {
#if SSE2
  const uint8_t *weights = wfa_weights + entry * BLOCKS * PAIRS * LANES * 2;
  __m128i more = missing_part(d);
  size_t block, pair;
  for (block = 0; block < BLOCKS; block++) {
    const __m128i zero = _mm_setzero_si128();
    __m128i low = zero, high = zero;
    for (pair = 0; pair < PAIRS; pair++, weights += LANES * 2) {
      const __m128i rows = VECTOR(weights);
      int32_t two;
      __m128i both;
      memcpy(&two, d + 2 * pair, sizeof two);
      both = _mm_set1_epi32(two);
      low = _mm_add_epi32(low, _mm_madd_epi16(both, _mm_unpacklo_epi8(rows, zero)));
      high = _mm_add_epi32(high, _mm_madd_epi16(both, _mm_unpackhi_epi8(rows, zero)));
    }
    low = _mm_add_epi32(low, more);
    more = zero;
    low = _mm_packs_epi32(parts_of_rows(low), parts_of_rows(high));
    _mm_storeu_si128((__m128i *)(void *)(after + block * LANES), low);
  }
#elif WFA_DENSE
  const wfa_weight *weights = wfa_weights + entry * BLOCKS * PAIRS * LANES * 2;
  size_t block, pair, j;
  for (block = 0; block < BLOCKS; block++) {
    wfa_sum sums[LANES] = {0};
    if (block == 0) sums[0] = missing_mass(d) * WFA_ROW_ONE;
    for (pair = 0; pair < PAIRS; pair++, weights += LANES * 2) {
      const wfa_sum one = d[2 * pair], two = d[2 * pair + 1];
      for (j = 0; j < LANES; j++) sums[j] += one * weights[2 * j] + two * weights[2 * j + 1];
    }
    for (j = 0; j < LANES; j++) after[block * LANES + j] = (state_number)part_of_row(sums[j]);
  }
#else
  wfa_sum sums[ROOM] = {0};
  size_t i, j, at = wfa_matrix_starts[entry];
  sums[0] = missing_mass(d) * WFA_ROW_ONE;
  for (i = 0; i < WFA_STATES; i++) {
    const wfa_sum mass = d[i];
    size_t end = at + wfa_row_sizes[entry * WFA_STATES + i];
    if (mass)
      for (; at < end; at++) sums[wfa_targets[at]] += mass * wfa_weights[at];
    at = end;
  }
  for (j = 0; j < ROOM; j++) after[j] = (state_number)part_of_row(sums[j]);
#endif
}

/* column -> E*column */
static void back(const int32_t *column, size_t entry, int32_t *before) {
  size_t i, j;
#if WFA_DENSE
  const wfa_weight *weights = wfa_weights + entry * BLOCKS * PAIRS * LANES * 2;
  for (i = 0; i < WFA_STATES; i++) {
    uint64_t sum = 0;
    for (j = 0; j < WFA_STATES; j++) {
      const size_t at = ((j / LANES * PAIRS + i / 2) * LANES + j % LANES) * 2 + i % 2;
      sum += (uint64_t)weights[at] * (uint32_t)column[j];
    }
    before[i] = (int32_t)(sum / WFA_ROW_ONE);
  }
#else
  size_t at = wfa_matrix_starts[entry];
  for (i = 0; i < WFA_STATES; i++) {
    uint64_t sum = 0;
    for (j = wfa_row_sizes[entry * WFA_STATES + i]; j; j--, at++)
      sum += (uint64_t)wfa_weights[at] * (uint32_t)column[wfa_targets[at]];
    before[i] = (int32_t)(sum / WFA_ROW_ONE);
  }
#endif
}

/* where mass is lost, what is left is doubled until it is more than half */
static void rescale(state_number *d) {
#if WFA_LOSSY
  uint64_t mass = 0;
  size_t j;
  for (j = 0; j < WFA_STATES; j++) mass += d[j];
  for (; mass > 0 && 2 * mass <= WFA_STATE_ONE; mass *= 2)
    for (j = 0; j < WFA_STATES; j++) d[j] = (state_number)(2 * d[j]);
#else
  (void)d;
#endif
}

/* change*column in parts of 2^26 */
static int64_t dot(const int32_t *change, const int32_t *column) {
  int64_t sum = 0;
  size_t i;
  for (i = 0; i < WFA_STATES; i++) sum += (int64_t)change[i] * column[i];
  return shifted(sum, WFA_STATE_BITS - 4);
}

static int answer(const state_number *d, uint32_t *probabilities) {
  uint64_t sums[WFA_CLASSES], all = 0;
  size_t i, c;
  int best = 0;
  for (c = 0; c < WFA_CLASSES; c++) sums[c] = (uint64_t)missing_mass(d) * wfa_final[c];
  for (i = 0; i < WFA_STATES; i++)
    for (c = 0; c < WFA_CLASSES; c++) sums[c] += (uint64_t)d[i] * wfa_final[i * WFA_CLASSES + c];
  for (c = 0; c < WFA_CLASSES; c++) {
    if (sums[c] > sums[best]) best = (int)c;
    probabilities[c] = (uint32_t)(sums[c] / WFA_STATE_ONE);
    all += probabilities[c];
  }
#if WFA_LOSSY
  for (c = 0; c < WFA_CLASSES; c++) probabilities[c] = (uint32_t)(all ? (uint64_t)probabilities[c] * ONE / all : ONE / WFA_CLASSES);
#endif
  return all ? best : WFA_UNDECIDED;
}
#else
/* --- the linear kind: x -> x*d + (x*P)*s + b, with d, s and b made from the factors of a word */

typedef int32_t state_number;
#define ROOM WFA_STATES
#define CHANGE_ONE_BITS 6
#define COLUMN_FACTOR 16
#define NUMBERS (WFA_STATES - 1) /* the last state is always WFA_STATE_ONE */
#define HALF (WFA_TURNS * (WFA_WIDTH / 2)) /* pairs of the first layer that turn */
#define ONE_BITS 22

typedef struct {
  int32_t d[NUMBERS], s[NUMBERS], b[NUMBERS];
} parts;

/* numbers beyond `most` are cut there, so that none can leave 53 bits */
static int64_t cut(int64_t value, int64_t most) { return value > most ? most : value < -most ? -most : value; }

static void start_state(state_number *x) { memcpy(x, wfa_start, sizeof wfa_start); }
static void rescale(state_number *x) { (void)x; }

static int64_t polynomial(const int32_t *table, size_t size, int64_t x) {
  int64_t sum = table[0];
  size_t k;
  for (k = 1; k < size; k++) sum = table[k] + shifted(sum * x, ONE_BITS);
  return sum;
}

/* 2^-t in parts of 2^30, for t >= 0 in parts of ONE */
static int64_t halved(int64_t t) {
  int64_t whole = t >> ONE_BITS;
  return whole > 30 ? 0 : shifted(polynomial(wfa_exp2, sizeof(wfa_exp2) / sizeof(wfa_exp2[0]), t - whole * ONE), (unsigned)whole);
}

static int64_t sigmoid(int64_t t) {
  int64_t value = ((int64_t)1 << 52) / (((int64_t)1 << 30) + halved(t >= 0 ? t : -t));
  return t >= 0 ? value : ONE - value;
}

#if HALF
static size_t partner(size_t j) { return j < HALF ? j + HALF : j - HALF; }

/* of an angle in turns */
static int64_t sine(int64_t t) {
  int64_t part = t - shifted(t, ONE_BITS) * ONE, quadrant = part * 4 >> ONE_BITS, y = part * 4 - quadrant * ONE, value;
  if (quadrant % 2) y = ONE - y;
  value = shifted(polynomial(wfa_sine, sizeof(wfa_sine) / sizeof(wfa_sine[0]), y), 6);
  return quadrant >= 2 ? -value : value;
}
#endif

static int64_t described(size_t entry, size_t column) {
  int64_t sum = 0, value;
  size_t r;
  for (r = 0; r < WFA_FACTORS; r++)
    sum += (int64_t)wfa_factors[entry * WFA_FACTORS + r] * wfa_expansion[r * WFA_COLUMNS + column];
  value = wfa_offset[column] + shifted(shifted(sum, WFA_FIRST_SHIFT) * (int64_t)wfa_multipliers[column], wfa_shifts[column]);
  return cut(value, INT32_MAX);
}

static void make_parts(size_t entry, parts *made) {
  size_t j;
  for (j = 0; j < NUMBERS; j++) {
    int64_t sigma = sigmoid(described(entry, j));
    made->d[j] = (int32_t)shifted(WFA_DECAY * (WFA_TURNS ? 2 * sigma - ONE : sigma), ONE_BITS);
    made->s[j] = j < WFA_WIDTH ? 0 : (int32_t)cut(described(entry, NUMBERS + j - WFA_WIDTH), ONE);
    made->b[j] = (int32_t)described(entry, 2 * NUMBERS - WFA_WIDTH + j);
  }
#if HALF
  for (j = 0; j < HALF; j++) {
    int64_t radius = shifted(WFA_DECAY * sigmoid(described(entry, j)), ONE_BITS), angle = described(entry, HALF + j);
    made->d[j] = made->d[HALF + j] = (int32_t)shifted(radius * sine(angle + ONE / 4), ONE_BITS);
    made->s[HALF + j] = (int32_t)shifted(radius * sine(angle), ONE_BITS);
    made->s[j] = -made->s[HALF + j];
  }
#endif
}

static const parts *prepared;
static size_t prepared_count;

size_t wfa_prepare(int32_t *steps, size_t room) {
  const size_t entries = sizeof(wfa_factors) / sizeof(wfa_factors[0]) / WFA_FACTORS;
  parts *made = (parts *)(void *)steps;
  size_t entry, count = room / WFA_STEP_NUMBERS < entries ? room / WFA_STEP_NUMBERS : entries;
  for (entry = 0; entry < count; entry++) make_parts(entry, made + entry);
  prepared = made;
  prepared_count = count;
  return count;
}

static const parts *parts_of(size_t entry, parts *made) {
  if (entry < prepared_count) return prepared + entry;
  make_parts(entry, made);
  return made;
}

static void step(const state_number *x, size_t entry, state_number *after) {
  parts made;
  const parts *word = parts_of(entry, &made);
  int32_t read[NUMBERS] = {0};
  size_t j;
#if HALF
  for (j = 0; j < 2 * HALF; j++) read[j] = x[partner(j)];
#endif
#if NUMBERS > WFA_WIDTH
  {
    wfa_short states[NUMBERS];
    const wfa_link *link = wfa_links;
    size_t i, layer;
    for (i = 0; i < NUMBERS; i++) states[i] = (wfa_short)shifted(x[i], WFA_READ_SHIFT);
    for (layer = WFA_WIDTH; layer < NUMBERS; layer += WFA_WIDTH)
      for (j = layer; j < layer + WFA_WIDTH; j++, link += layer) {
        wfa_sum sum = 0;
        for (i = 0; i < layer; i++) sum += (wfa_sum)states[i] * link[i];
        read[j] = (int32_t)shifted((int64_t)sum * ((int64_t)1 << WFA_READ_SHIFT), WFA_LINK_BITS);
      }
  }
#endif
  for (j = 0; j < NUMBERS; j++) {
    int64_t gated = shifted((int64_t)read[j] * word->s[j], j < WFA_WIDTH ? ONE_BITS : WFA_GATE_BITS);
    after[j] = (int32_t)cut(shifted((int64_t)x[j] * word->d[j], ONE_BITS) + gated + (int64_t)word->b[j] * 256, WFA_STATE_ONE - 1);
  }
  after[NUMBERS] = x[NUMBERS];
}

/* what a change of the state before the word does to column*(state after it) */
static void back(const int32_t *column, size_t entry, int32_t *before) {
  parts made;
  const parts *word = parts_of(entry, &made);
  int64_t gated[NUMBERS], sums[NUMBERS];
  size_t i;
  for (i = 0; i < NUMBERS; i++)
    gated[i] = cut(shifted((int64_t)word->s[i] * column[i], i < WFA_WIDTH ? ONE_BITS : WFA_GATE_BITS), (int64_t)1 << 26);
  for (i = 0; i < NUMBERS; i++) sums[i] = shifted((int64_t)column[i] * word->d[i], ONE_BITS);
#if HALF
  for (i = 0; i < 2 * HALF; i++) sums[i] += gated[partner(i)];
#endif
#if NUMBERS > WFA_WIDTH
  {
    const wfa_link *link = wfa_links;
    size_t j, layer;
    for (layer = WFA_WIDTH; layer < NUMBERS; layer += WFA_WIDTH) {
      int64_t linked[NUMBERS] = {0};
      for (j = layer; j < layer + WFA_WIDTH; j++, link += layer)
        for (i = 0; i < layer; i++) linked[i] += link[i] * gated[j];
      for (i = 0; i < layer; i++) sums[i] += shifted(linked[i], WFA_LINK_BITS);
    }
  }
#endif
  for (i = 0; i < NUMBERS; i++) before[i] = (int32_t)cut(sums[i], (int64_t)1 << 27);
  before[NUMBERS] = column[NUMBERS];
}

/* change*column in parts of 2^(26 - WFA_LOGIT_BITS) */
static int64_t dot(const int32_t *change, const int32_t *column) {
  int64_t sum = 0;
  size_t i;
  for (i = 0; i < NUMBERS; i++) sum += shifted((int64_t)change[i] * column[i], 8);
  return cut(shifted(sum, 16), (int64_t)1 << 28);
}

/* the softmax, to the base of 2 */
static int answer(const state_number *x, uint32_t *probabilities) {
  const int64_t most_gap = 40 * ((int64_t)1 << 20);
  int64_t sums[WFA_CLASSES] = {0}, shares[WFA_CLASSES], all = 0;
  size_t i, c;
  int best = 0;
  for (i = 0; i < WFA_STATES; i++)
    for (c = 0; c < WFA_CLASSES; c++) sums[c] += (int64_t)x[i] * wfa_final[i * WFA_CLASSES + c];
  for (c = 1; c < WFA_CLASSES; c++)
    if (sums[c] > sums[best]) best = (int)c;
  for (c = 0; c < WFA_CLASSES; c++) {
    int64_t gap = shifted(sums[best] - sums[c], 32 - WFA_LOGIT_BITS);
    shares[c] = halved(((gap < most_gap ? gap : most_gap) * 6051102) >> 20); /* log2(e) in parts of ONE */
    all += shares[c];
  }
  for (c = 0; c < WFA_CLASSES; c++) probabilities[c] = (uint32_t)(shares[c] * ONE / all);
  return best;
}
#endif

/* --- predictions */

int wfa_predict_tokens(const wfa_token *tokens, size_t count, uint32_t probabilities[WFA_CLASSES]) {
  state_number states[2][ROOM];
  size_t t;
  start_state(states[0]);
  for (t = 0; t < count; t++) {
#if WFA_CLOSED
    if (!tokens[t].known) return WFA_UNKNOWN_WORD;
#endif
    step(states[t % 2], tokens[t].entry, states[1 - t % 2]);
    rescale(states[1 - t % 2]);
  }
  return answer(states[count % 2], probabilities);
}

int wfa_predict(const char *text, size_t bytes, uint32_t probabilities[WFA_CLASSES]) {
  splitter words;
  wfa_token token;
  state_number states[2][ROOM];
  size_t skipped = skipped_words(text, bytes), count = 0;
  start_state(states[0]);
  start_splitting(&words, text, bytes);
  while (next_token(&words, &token)) {
    if (skipped) {
      skipped--;
      continue;
    }
#if WFA_CLOSED
    if (!token.known) return WFA_UNKNOWN_WORD;
#endif
    step(states[count % 2], token.entry, states[1 - count % 2]);
    rescale(states[1 - count % 2]);
    count++;
#if WFA_MAX_LENGTH && !WFA_KEEPS_END
    if (count == WFA_MAX_LENGTH) break;
#endif
  }
  return answer(states[count % 2], probabilities);
}

/* --- exact Shapley values */

/* (1 - z)*one + z*two */
static int64_t mixed(uint32_t z, int64_t one, int64_t two) {
  return shifted((int64_t)(ONE - z) * one + (int64_t)z * two, 22);
}

static void add_node(const wfa_token *tokens, size_t count, enum wfa_absence absence, uint32_t z, uint32_t weight, int32_t *work,
                     int64_t *values) {
  state_number state[ROOM] = {0}, after[ROOM], base[ROOM];
  int32_t ahead[WFA_STATES], before[WFA_STATES], hidden[WFA_STATES];
  size_t t, i, c;
  start_state(state);
  for (t = 0; t < count; t++) {
    int32_t *change = work + t * WFA_STATES;
    step(state, tokens[t].entry, after);
    if (absence == WFA_DELETE) memcpy(base, state, sizeof base);
    else step(state, 0, base);
    for (i = 0; i < WFA_STATES; i++) {
      change[i] = (int32_t)shifted((int64_t)after[i] - (int64_t)base[i], CHANGE_ONE_BITS);
      state[i] = (state_number)mixed(z, base[i], after[i]);
    }
  }
  for (c = 0; c < WFA_CLASSES; c++) {
    for (i = 0; i < WFA_STATES; i++) ahead[i] = (int32_t)(COLUMN_FACTOR * wfa_final[i * WFA_CLASSES + c]);
    for (t = count; t-- > 0;) {
      const int32_t *change = work + t * WFA_STATES;
      values[t * WFA_CLASSES + c] += (int64_t)weight * dot(change, ahead);
      back(ahead, tokens[t].entry, before);
      if (absence == WFA_DELETE) memcpy(hidden, ahead, sizeof hidden);
      else back(ahead, 0, hidden);
      for (i = 0; i < WFA_STATES; i++) ahead[i] = (int32_t)mixed(z, hidden[i], before[i]);
    }
  }
}

int wfa_explain(const wfa_token *tokens, size_t count, enum wfa_absence absence, int32_t *work, int64_t *values) {
  size_t rule = 0, at, half;
  if (count > WFA_MOST_EXPLAINED) return WFA_TOO_LONG;
#if WFA_CLOSED
  for (at = 0; at < count; at++)
    if (!tokens[at].known) return WFA_UNKNOWN_WORD;
#endif
  for (at = 0; at < count * WFA_CLASSES; at++) values[at] = 0;
  while (wfa_node_limits[rule] < count) rule++;
  if (rule == 0) {
    add_node(tokens, count, absence, ONE / 2, wfa_node_weights[0], work, values);
    return 0;
  }
  half = (size_t)1 << (rule - 1);
  for (at = half; at < 2 * half; at++) {
    add_node(tokens, count, absence, wfa_node_z[at], wfa_node_weights[at], work, values);
    add_node(tokens, count, absence, ONE - wfa_node_z[at], wfa_node_weights[at], work, values);
  }
  return 0;
}
