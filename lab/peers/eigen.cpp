// Eigen: transposeInPlace() of a matrix that Eigen owns, for only such a one may change its shape.
#include "peer.h"

#include <Eigen/Core>

#include <new>

namespace {

struct Either {
    virtual ~Either() = default;
    virtual void transpose() = 0;
    virtual void *data() = 0;
};

template <typename Scalar> struct Owned : Either {
    Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix;
    Owned(Eigen::Index rows, Eigen::Index cols) : matrix(rows, cols) {}
    void transpose() override { matrix.transposeInPlace(); }
    void *data() override { return matrix.data(); }
};

void *open(size_t rows, size_t cols, size_t unit)
{
    const auto r = static_cast<Eigen::Index>(rows);
    const auto c = static_cast<Eigen::Index>(cols);
    try {
        if (unit == sizeof(float))
            return static_cast<Either *>(new Owned<float>(r, c));
        return static_cast<Either *>(new Owned<double>(r, c));
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

bool run(void *matrix)
{
    try {
        static_cast<Either *>(matrix)->transpose();
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

void *data(void *matrix)
{
    return static_cast<Either *>(matrix)->data();
}

void close(void *matrix)
{
    delete static_cast<Either *>(matrix);
}

} // namespace

extern const peer peer_eigen;
const peer peer_eigen = {"Eigen transposeInPlace", open, peer_matrix_prepared, run, data, close};
