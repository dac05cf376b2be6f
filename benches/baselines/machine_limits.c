// What the machine can do at most, for benches/PROFILE.md, on one thread and on two:
//   cc -O3 -march=native -pthread machine_limits.c -o limits && ./limits
// The generator is xoshiro256++ of Blackman and Vigna in eight lanes, as leakbound's samplers use it. Needs AVX2 and FMA.
// Rates are per second of processor time and each is the best of five runs: what else the machine does can only slow it.

#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Seconds that this thread has run.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static volatile uint64_t sink;

// Bytes read from memory of this size, again and again.
static double reads(size_t size, double *seconds) {
    __m256i *data = aligned_alloc(64, size);
    size_t vectors = size / 32, times = ((size_t)4 << 30) / size;
    for (size_t i = 0; i < vectors; i++) data[i] = _mm256_set1_epi64x((long long)i);
    __m256i sums[8] = {0};
    double start = now();
    for (size_t time = 0; time < times; time++) {
        for (size_t i = 0; i < vectors; i += 8)
            for (int j = 0; j < 8; j++) sums[j] = _mm256_xor_si256(sums[j], _mm256_load_si256(data + i + j));
        __asm__ volatile("" ::: "memory");
    }
    *seconds = now() - start;
    for (int j = 0; j < 8; j++) sink += (uint64_t)_mm256_extract_epi64(sums[j], 0);
    free(data);
    return (double)size * times;
}

static double reads_16k(double *s) { return reads(16 << 10, s); }
static double reads_256k(double *s) { return reads(256 << 10, s); }
static double reads_8m(double *s) { return reads(8 << 20, s); }
static double reads_1g(double *s) { return reads(1 << 30, s); }

// Twelve chains: the latency of a multiplication with addition times the number of them that begin in a cycle is less.
static double fmas(double *seconds) {
    __m256d x = _mm256_set1_pd(0.999999), y = _mm256_set1_pd(1e-6), z = _mm256_setzero_pd();
    __m256d a = z, b = z, c = z, d = z, e = z, f = z, g = z, h = z, i = z, j = z, k = z, l = z;
    long times = 20000000;
    double start = now();
#define ONE(chain) "vfmadd213pd %13, %12, %" chain "\n"
    for (long time = 0; time < times; time++)
        __asm__ volatile(ONE("0") ONE("1") ONE("2") ONE("3") ONE("4") ONE("5") ONE("6") ONE("7") ONE("8") ONE("9") ONE("10") ONE("11")
                         : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h), "+x"(i), "+x"(j), "+x"(k), "+x"(l)
                         : "x"(x), "x"(y));
#undef ONE
    *seconds = now() - start;
    sink += (uint64_t)(a + b + c + d + e + f + g + h + i + j + k + l)[0];
    return 48.0 * times;
}

// Additions that wait for each other, one per cycle: the clock.
static double cycles(double *seconds) {
    uint64_t sum = 0;
    long times = 100000000;
    double start = now();
    for (long i = 0; i < times; i++)
        __asm__ volatile("add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0" : "+r"(sum));
    *seconds = now() - start;
    sink += sum;
    return 8.0 * times;
}

static __m256i rotated(__m256i x, int by) { return _mm256_or_si256(_mm256_slli_epi64(x, by), _mm256_srli_epi64(x, 64 - by)); }

// Random bits, written to 8 KB again and again.
static double random_bits(double *seconds) {
    static _Thread_local __m256i words[256];
    __m256i s[2][4];
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 4; i++) s[half][i] = _mm256_set_epi64x(i + 1, half + 77, 3 * i + 5, 0x9e3779b97f4a7c15);
    long times = 100000;
    double start = now();
    for (long time = 0; time < times; time++) {
        for (int i = 0; i < 256; i += 2)
            for (int half = 0; half < 2; half++) {
                __m256i a = s[half][0], b = s[half][1], c = s[half][2], d = s[half][3];
                words[i + half] = _mm256_add_epi64(rotated(_mm256_add_epi64(a, d), 23), a);
                __m256i t = _mm256_slli_epi64(b, 17);
                c = _mm256_xor_si256(c, a), d = _mm256_xor_si256(d, b);
                s[half][1] = _mm256_xor_si256(b, c), s[half][0] = _mm256_xor_si256(a, d);
                s[half][2] = _mm256_xor_si256(c, t), s[half][3] = rotated(d, 45);
            }
        __asm__ volatile("" ::: "memory");
    }
    *seconds = now() - start;
    sink += (uint64_t)_mm256_extract_epi64(words[5], 0);
    return 256.0 * 256 * times;
}

struct job {
    double (*run)(double *);
    double rate;
};

static void *work(void *argument) {
    struct job *job = argument;
    double seconds, items = job->run(&seconds);
    job->rate = items / seconds;
    return 0;
}

static double best(double (*run)(double *), int threads) {
    double most = 0;
    for (int round = 0; round < 5; round++) {
        struct job jobs[2] = {{run, 0}, {run, 0}};
        pthread_t other;
        if (threads == 2) pthread_create(&other, 0, work, &jobs[1]);
        work(&jobs[0]);
        if (threads == 2) pthread_join(other, 0);
        double rate = jobs[0].rate + (threads == 2 ? jobs[1].rate : 0);
        if (rate > most) most = rate;
    }
    return most;
}

int main(void) {
    struct {
        const char *name;
        double (*run)(double *);
    } figures[] = {
        {"clock, dependent additions [1/s]", cycles}, {"read of 16 KB, first cache [B/s]", reads_16k},
        {"read of 256 KB, second cache [B/s]", reads_256k}, {"read of 8 MB, third cache [B/s]", reads_8m},
        {"read of 1 GB, memory [B/s]", reads_1g}, {"double-precision multiply-adds [1/s]", fmas},
        {"random bits, xoshiro256++ in eight lanes [1/s]", random_bits},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double one = best(figures[i].run, 1), two = best(figures[i].run, 2);
        printf("%-50s 1 thread %9.3f e9, 2 threads %9.3f e9\n", figures[i].name, one / 1e9, two / 1e9);
    }
}
