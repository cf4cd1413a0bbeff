/*
 * Journals that are refused, with the file untouched: of other changes and other files, of another
 * format, damaged, and forged; and the bytes of a head, which every version must read alike.
 */
#include "changes.h"
#include "cmocka_all.h"
#include "disk.h"
#include "file/journal_format.h"
#include "file/mark.h"
#include "file/sum.h"
#include "restride/restride.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put_back(int descriptor, const void *bytes, size_t count, off_t offset)
{
    assert_int_equal(pwrite(descriptor, bytes, count, offset), count);
}

static void assert_refused(const test_change *c, const char *purpose, const char *sentence)
{
    rs_journaled_found found;
    unsigned char *before = read_file(file_path, HEADER + c->bytes);
    assert_int_equal(run_journaled(c, purpose, NULL, &found), RESTRIDE_INVALID_ARGUMENT);
    if (strstr(restride_last_error(), sentence) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", restride_last_error(), sentence);
    unsigned char *after = read_file(file_path, HEADER + c->bytes);
    assert_memory_equal(before, after, HEADER + c->bytes);
    free(before);
    free(after);
}

static void interrupt(const test_change *c)
{
    make_file(c);
    run_and_die(c, 20, DISK_DIES, 0, NULL);
    assert_int_equal(access(journal_path, F_OK), 0);
}

static void test_wrong_journals(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    interrupt(c);
    assert_refused(c, "something else", "belongs to an interrupted \"test\"");
    /* The same bytes in another file. */
    char moved[80];
    snprintf(moved, sizeof moved, "%s.moved", file_path);
    rename(file_path, moved);
    unsigned char *bytes = read_file(moved, HEADER + c->bytes);
    write_file(file_path, bytes, HEADER + c->bytes);
    assert_refused(c, "test", "belongs to another file");
    unlink(moved);
    free(bytes);
    /* Not a journal. */
    write_file(journal_path, "some text of mine", 17);
    assert_refused(c, "test", "is no journal");
    write_file(journal_path, "", 0);
    assert_refused(c, "test", "is no journal");
}

/* What is no regular file is not opened, and a mark's name is no journal's. */
static void test_names(void **state)
{
    (void)state;
    char usual[PATH_BYTES];
    const test_change *c = &changes[9];
    make_file(c);
    assert_int_equal(symlink("/dev/null", journal_path), 0);
    assert_refused(c, "test", "is no journal");
    unlink(journal_path);
    assert_int_equal(mkfifo(journal_path, 0600), 0);
    assert_refused(c, "test", "is no journal");
    unlink(journal_path);
    memcpy(usual, journal_path, sizeof usual);
    memcpy(journal_path, file_path, sizeof journal_path);
    strcat(journal_path, ".restride-change");
    assert_refused(c, "test", "its name is that of a mark");
    assert_int_not_equal(access(journal_path, F_OK), 0);
    memcpy(journal_path, usual, sizeof usual);
}

/* A mark beside the file is found by whoever comes through a symbolic link, and the other way. */
static void test_marks_beside(void **state)
{
    (void)state;
    char usual[PATH_BYTES];
    char other[PATH_BYTES];
    const test_change *c = &changes[9];
    memcpy(usual, file_path, sizeof usual);
    memcpy(other, usual, sizeof other);
    strcat(other, "-link");
    disk.no_attributes = true;
    for (int linked = 0; linked < 2; linked++) {
        make_file(c);
        assert_int_equal(symlink(usual, other), 0);
        memcpy(file_path, linked != 0 ? other : usual, sizeof usual);
        run_and_die(c, 30, DISK_DIES, 0, NULL);
        memcpy(file_path, linked != 0 ? usual : other, sizeof usual);
        assert_int_equal(state_of_file(NULL), RS_JOURNALED_HALF_DONE);
        rs_journaled_found found;
        assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
        memcpy(file_path, usual, sizeof usual);
        check_file(c, 30);
        unlink(other);
    }
    disk.no_attributes = false;
}

/* A mark that was taken away without being synchronised, and then again, does not come back. */
static void test_marks_cleared(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        rs_file file;
        rs_mark mark;
        make_file(&changes[9]);
        disk_seed = seed;
        disk = (test_disk){.calls_left = DISK_NEVER, .no_attributes = seed % 2 == 0};
        assert_int_equal(rs_file_open(&file, file_path, true), RESTRIDE_OK);
        assert_int_equal(rs_mark_set(&file, seed, journal_path), RESTRIDE_OK);
        disk.calls_left = 1; /* it is removed, and then the disk fails */
        disk.action = DISK_FAILS;
        assert_int_equal(rs_mark_clear(&file, NULL), RESTRIDE_IO);
        assert_int_equal(rs_mark_clear(&file, NULL), RESTRIDE_OK);
        rs_file_close(&file);
        disk_lose_power();
        assert_int_equal(rs_file_open(&file, file_path, false), RESTRIDE_OK);
        assert_int_equal(rs_mark_read(&file, &mark), RESTRIDE_OK);
        assert_false(mark.found);
        rs_mark_free(&mark);
        rs_file_close(&file);
    }
    disk = (test_disk){.calls_left = DISK_NEVER};
}

/* A change of any byte of the head is seen. */
static void test_damaged_head(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    for (off_t byte = 0; byte < 120; byte += 7) {
        interrupt(c);
        int descriptor = open(journal_path, O_RDWR);
        unsigned char value;
        assert_int_equal(pread(descriptor, &value, 1, byte), 1);
        value ^= 0x10;
        put_back(descriptor, &value, 1, byte);
        close(descriptor);
        assert_refused(c, "test", journal_path);
    }
}

static void write_byte(off_t place, unsigned char value)
{
    int descriptor = open(journal_path, O_RDWR);
    put_back(descriptor, &value, 1, place);
    close(descriptor);
}

static void test_other_version(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    interrupt(c);
    write_byte(16, RS_JOURNAL_VERSION + 1);
    assert_refused(c, "test", "has format 3, and this version of Restride reads format 2");
}

/* A number that is not what was written, although the checksum fits. */
static void forge(size_t place, uint64_t word)
{
    enum { MOST_HEAD = 8192 };
    unsigned char front[MOST_HEAD];
    rs_journal_head head;
    int descriptor = open(journal_path, O_RDWR);
    assert_true(pread(descriptor, front, sizeof front, 0) > RS_JOURNAL_HEAD_BYTES);
    rs_journal_put_word(front + place, word);
    assert_true(rs_journal_get_head(&head, front));
    head.purpose_bytes = strlen("test");
    unsigned char *plan = front + RS_JOURNAL_PURPOSE_PLACE + head.purpose_bytes;
    head.checksum = rs_journal_head_sum(front, "test", head.purpose_bytes, plan, head.plan_bytes);
    rs_journal_put_word(front + 24, head.checksum);
    put_back(descriptor, front, sizeof front, 0);
    close(descriptor);
}

/* Counts and sizes of the head and of the plan that lie, one by one. */
static void test_forged_numbers(void **state)
{
    (void)state;
    enum {
        PLAN = RS_JOURNAL_PURPOSE_PLACE + 4,
        WORD = RS_JOURNAL_WORD_BYTES,
        TASK_AT = PLAN + 4 * WORD
    };
    static const size_t places[] = {
        72,                  /* ranges */
        80,                  /* payload */
        88,                  /* carried */
        96,                  /* stash */
        PLAN,                /* offset of the array */
        PLAN + WORD,         /* its bytes */
        PLAN + 2 * WORD,     /* bytes of the header */
        PLAN + 3 * WORD,     /* stages */
        TASK_AT,             /* method */
        TASK_AT + WORD,      /* offset */
        TASK_AT + 2 * WORD,  /* outer */
        TASK_AT + 4 * WORD,  /* count */
        TASK_AT + 5 * WORD,  /* rows */
        TASK_AT + 6 * WORD,  /* cols */
        TASK_AT + 7 * WORD,  /* tail */
        TASK_AT + 10 * WORD, /* unit */
        TASK_AT + 11 * WORD, /* repeats */
        TASK_AT + 13 * WORD, /* pieces */
    };
    const test_change *c = &changes[9];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (int bits = 20; bits <= 63; bits += 43) {
            interrupt(c);
            forge(places[i], (uint64_t)1 << bits);
            assert_refused(c, "test", "is damaged");
        }
}

/* Neither of two records that had been written is whole any more. */
static void test_lost_records(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    interrupt(c);
    unsigned char front[RS_JOURNAL_HEAD_BYTES];
    rs_journal_head head;
    rs_journal_places places;
    int descriptor = open(journal_path, O_RDONLY);
    assert_int_equal(pread(descriptor, front, sizeof front, 0), sizeof front);
    assert_true(rs_journal_get_head(&head, front));
    assert_true(rs_journal_find_places(&head, &places));
    for (int slot = 0; slot < 2; slot++) {
        unsigned char value;
        const off_t place = (off_t)places.slots[slot] + 12;
        assert_int_equal(pread(descriptor, &value, 1, place), 1);
        write_byte(place, value ^ 0xA5);
    }
    close(descriptor);
    assert_refused(c, "test", "is damaged");
}

/* What waits in the journal for its turn is not what was put there. */
static void test_damaged_stash(void **state)
{
    (void)state;
    static const char *const names[] = {"pad", "long blocks"};
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const test_change *c = &changes[i];
        if (strcmp(c->name, names[0]) != 0 && strcmp(c->name, names[1]) != 0)
            continue;
        interrupt(c);
        unsigned char front[RS_JOURNAL_HEAD_BYTES];
        rs_journal_head head;
        rs_journal_places places;
        int descriptor = open(journal_path, O_RDONLY);
        assert_int_equal(pread(descriptor, front, sizeof front, 0), sizeof front);
        unsigned char value;
        assert_true(rs_journal_get_head(&head, front));
        assert_true(rs_journal_find_places(&head, &places));
        assert_int_equal(pread(descriptor, &value, 1, (off_t)places.stash + 3), 1);
        close(descriptor);
        write_byte((off_t)places.stash + 3, value ^ 1);
        rs_journaled_found found;
        assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_INVALID_ARGUMENT);
        assert_non_null(strstr(restride_last_error(), "is damaged"));
        assert_int_equal(access(journal_path, F_OK), 0);
    }
}

/* The bytes of a head are those of lab/docs/journal.md on every machine. */
static void test_format(void **state)
{
    (void)state;
    const rs_journal_head head = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x0102030405060708};
    unsigned char bytes[RS_JOURNAL_HEAD_BYTES];
    rs_journal_put_head(&head, bytes);
    assert_memory_equal(bytes, "restride-journal", 16);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(bytes[16 + 8 * i], i + 1);
        assert_int_equal(bytes[16 + 8 * i + 7], 0);
    }
    assert_memory_equal(bytes + 112, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    assert_int_equal(rs_journal_head_sum(bytes, "words", 5, "plan", 4), 0x03B04E50E27DF8C5U);
}

/* Parts of any length add up, and what accidents do to a file changes its sum. */
static void test_sums(void **state)
{
    enum { BYTES = 600, PLACE = 1001, SIGN = 0x80 };
    unsigned char bytes[BYTES];
    (void)state;
    disk_seed = 1;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)disk_random(256);
    const uint64_t sum = rs_sum_bytes(PLACE, bytes, BYTES);
    assert_true(sum == 0x724BC7D14E367080); /* on every machine */
    for (size_t most = 1; most < BYTES; most++) {
        uint64_t parts = 0;
        for (size_t at = 0, some; at < BYTES; at += some) {
            some = 1 + disk_random(most);
            some = some < BYTES - at ? some : BYTES - at;
            parts += rs_sum_bytes(PLACE + at, bytes + at, some);
        }
        assert_true(parts == sum);
    }
    assert_true(rs_sum_bytes(PLACE + 1, bytes, BYTES) != sum);
    for (size_t i = 0; i < BYTES; i++)
        for (size_t j = 0; j < i; j++) {
            unsigned char first = bytes[i];
            unsigned char second = bytes[j];
            bytes[i] ^= SIGN;
            bytes[j] ^= SIGN;
            assert_true(rs_sum_bytes(PLACE, bytes, BYTES) != sum);
            bytes[i] = second;
            bytes[j] = first;
            assert_true(first == second || rs_sum_bytes(PLACE, bytes, BYTES) != sum);
            bytes[i] = first;
            bytes[j] = second;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),          cmocka_unit_test(test_marks_beside),
        cmocka_unit_test(test_marks_cleared),  cmocka_unit_test(test_wrong_journals),
        cmocka_unit_test(test_damaged_head),   cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_forged_numbers), cmocka_unit_test(test_lost_records),
        cmocka_unit_test(test_damaged_stash),  cmocka_unit_test(test_format),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
