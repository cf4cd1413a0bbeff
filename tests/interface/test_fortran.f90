! restride.f90 against Fortran's own transpose and reshape, and what it refuses without a change.
program test_fortran
    use, intrinsic :: iso_c_binding
    use restride
    implicit none
    type, bind(c) :: body
        real(c_float) :: x
        real(c_double) :: m
    end type
    integer :: failures = 0
    type(c_ptr) :: engine
    call check(restride_engine_create_host(engine, 2_c_int) == RESTRIDE_OK, "engine")
    call check(restride_version() >= 100, "version")
    call check_matrices()
    call check_characters()
    call check_tensors()
    call check_records()
    call check_copy()
    call check_redistribution()
    call check_refusals()
    call restride_engine_forget_plans(engine)
    call restride_engine_destroy(engine)
    print '(i0, a)', failures, " failures"
    if (failures > 0) error stop 1
contains
    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        failures = failures + 1
        print *, what, ": ", restride_last_error()
    end subroutine

    subroutine check_matrices()
        complex(c_double), allocatable, target :: a(:, :)
        complex(c_double), pointer :: b(:, :)
        complex(c_double), allocatable :: before(:, :)
        integer :: n, m, i, j
        do n = 1, 40, 6
            do m = 1, 30, 7
                a = reshape([((cmplx(i, j, c_double), i=1, n), j=1, m)], [n, m])
                before = a
                call check(restride_transpose(a, engine) == RESTRIDE_OK, "transpose")
                call c_f_pointer(c_loc(a), b, [m, n])
                call check(all(b == transpose(before)), "transposed")
                call check(restride_transpose(b) == RESTRIDE_OK, "transpose back")
                call check(all(a == before), "transposed back")
            end do
        end do
    end subroutine

    subroutine check_characters()
        character(3), target :: words(2, 2) = reshape(["abc", "def", "ghi", "jkl"], [2, 2])
        call check(restride_transpose(words) == RESTRIDE_OK, "characters")
        call check(all([words(1, 1), words(2, 1), words(1, 2), words(2, 2)] == ["abc", "ghi", "def", "jkl"]), "words")
    end subroutine

    subroutine check_tensors()
        integer, parameter :: dims(3) = [4, 7, 5]
        integer, parameter :: orders(3, 6) = reshape([1, 2, 3, 1, 3, 2, 2, 1, 3, 2, 3, 1, 3, 1, 2, 3, 2, 1], [3, 6])
        integer(c_int16_t), target :: a(4, 7, 5)
        integer(c_int16_t), pointer :: b(:, :, :)
        integer(c_int16_t), allocatable :: before(:, :, :)
        integer :: k, i, old(3), index(3), x, y, z
        logical :: right
        do k = 1, 6
            a = reshape([(int(i, c_int16_t), i=1, 140)], dims)
            before = a
            call check(restride_permute(a, orders(:, k), engine) == RESTRIDE_OK, "permute")
            call c_f_pointer(c_loc(a), b, dims(orders(:, k)))
            right = .true.
            do z = 1, size(b, 3)
                do y = 1, size(b, 2)
                    do x = 1, size(b, 1)
                        index = [x, y, z]
                        old(orders(:, k)) = index
                        right = right .and. b(x, y, z) == before(old(1), old(2), old(3))
                    end do
                end do
            end do
            call check(right, "permuted")
        end do
    end subroutine

    subroutine check_copy()
        integer(c_int), target :: a(6, 8), b(8, 6)
        integer :: i
        a = reshape([(i, i=1, 48)], [6, 8])
        b = 0
        call check(restride_convert_copy(a, b, "j:8 i:6 int", "j i", "i j") == RESTRIDE_OK, "copy")
        call check(all(b == transpose(a)) .and. all(reshape(a, [48]) == [(i, i=1, 48)]), "copied")
        a = 0
        call check(restride_convert_copy(b, a, "j:8 i:6 int", "i j", "j i", engine) == RESTRIDE_OK, "copy back")
        call check(all(b == transpose(a)), "copied back")
        call refused(restride_convert_copy(a, b(:, 1:5), "j:8 i:6 int", "j i", "i j"), RESTRIDE_INVALID_ARGUMENT, "bytes")
        call refused(restride_convert_copy(a(1:5, :), b, "j:8 i:5 int", "j i", "i j"), RESTRIDE_INVALID_ARGUMENT, "section")
        call refused(restride_convert_copy(a, a, "j:8 i:6 int", "j i", "i j"), RESTRIDE_INVALID_ARGUMENT, "overlap")
        call check(restride_convert_copy(a, b, "j:8 i:6 int", "j i", "i k") == RESTRIDE_SYNTAX, "no dimension")
        call check(all(b == transpose(a)), "nothing changed")
    end subroutine

    subroutine check_records()
        type(body), target :: bodies(1003)
        real(c_double), pointer :: m(:)
        integer :: i
        do i = 1, 1003
            bodies(i) = body(real(i, c_float), real(2*i, c_double))
        end do
        call check(restride_convert(bodies, "i:1003 f{ float x; double m; }", "i f", "f i") == RESTRIDE_OK, "convert")
        call c_f_pointer(c_loc(bodies), m, [2006])
        call check(all(m(1004:) == [(2*i, i=1, 1003)]), "converted")
        call check(restride_convert(bodies, "i:1003 f{ float x; double m; }", "f i", "i f", engine) == RESTRIDE_OK, "back")
        call check(all(bodies%m == [(2*i, i=1, 1003)]) .and. all(int(bodies%x) == [(i, i=1, 1003)]), "converted back")
    end subroutine

    subroutine check_redistribution()
        type(c_ptr) :: group
        integer(c_int) :: a(5, 7), small(3)
        integer(c_int) :: kept(35)
        integer :: i, k
        a = reshape([(i, i=0, 34)], [5, 7])
        call check(restride_group_create_alone(group) == RESTRIDE_OK, "group")
        call restride_group_set_timeout(group, 10d0)
        call check(restride_redistribute(a, group, "j:7 i:5 int", "j i", "i j") == RESTRIDE_OK, "redistribute")
        kept = reshape(a, [35])
        call check(all(kept == [((5*i + k, i=0, 6), k=0, 4)]), "redistributed")
        call check(restride_redistribute(a, group, "j:7 i:5 int", "i j", "j i", engine) == RESTRIDE_OK, "back")
        call check(all(reshape(a, [35]) == [(i, i=0, 34)]), "redistributed back")
        call refused(restride_redistribute(small, group, "j:7 i:5 int", "i j", "j i"), RESTRIDE_INVALID_ARGUMENT, &
                     "gives no buffer")
        call restride_group_destroy(group)
    end subroutine

    subroutine refused(status, expected, words)
        integer(c_int), intent(in) :: status, expected
        character(*), intent(in) :: words
        call check(status == expected .and. index(restride_last_error(), words) > 0 .and. &
                   index(restride_last_error(), "is unchanged.") > 0, words)
    end subroutine

    subroutine check_refusals()
        integer(c_int) :: a(6, 8), before(6, 8)
        integer :: i
        a = reshape([(i, i=1, 48)], [6, 8])
        before = a
        call refused(restride_transpose(a(1:5, :)), RESTRIDE_INVALID_ARGUMENT, "section")
        call refused(restride_transpose(a(:, 8:1:-1)), RESTRIDE_INVALID_ARGUMENT, "section")
        call refused(restride_transpose(a(:, 1)), RESTRIDE_INVALID_ARGUMENT, "rank 2")
        call refused(restride_permute(a, [1, 2, 3]), RESTRIDE_INVALID_ARGUMENT, "each of its axes")
        call refused(restride_permute(a, [2, 2]), RESTRIDE_INVALID_ARGUMENT, "permutation")
        call refused(restride_convert(a, "j:8 i:7 int", "j i", "i j"), RESTRIDE_INVALID_ARGUMENT, "192 bytes")
        call refused(restride_convert(a, "j:8 i:6 int", "j i", "i k"), RESTRIDE_SYNTAX, "no dimension")
        call check(all(a == before), "unchanged")
        call check(restride_transpose(a(:, 3:5)) == RESTRIDE_OK, "columns")
        call check(all(a(:, [1, 2, 6, 7, 8]) == before(:, [1, 2, 6, 7, 8])), "columns alone")
    end subroutine
end program
