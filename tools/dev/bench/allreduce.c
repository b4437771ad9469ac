/* MPI_Allreduce of float32: allreduce SIZE REPEAT. Prints "seconds S" for each repetition, of the slowest
 * rank. One more, which makes the connections, comes first. Exit status: 1 if a sum is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Return the seconds of one sum, of the slowest rank; 0 at all ranks but the first. */
static double sum(const float *in, float *out, int n)
{
	double slowest = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	double begun = MPI_Wtime();
	MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	double took = MPI_Wtime() - begun;
	MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	return slowest;
}

int main(int argc, char **argv)
{
	int rank, ranks, wrong = 0;
	int n = argc > 1 ? atoi(argv[1]) : 1000, repeat = argc > 2 ? atoi(argv[2]) : 1;
	float *in = calloc((size_t)n, sizeof *in), *out = calloc((size_t)n, sizeof *out);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (in == NULL || out == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < n; i++)
		in[i] = (float)(rank + i % 1000);
	for (int k = 0; k <= repeat; k++) {
		double seconds = sum(in, out, n);
		if (rank == 0 && k > 0)
			printf("seconds %.9f\n", seconds);
	}
	for (int i = 0; i < n; i++)
		wrong |= out[i] != (float)(ranks * (ranks - 1) / 2 + ranks * (i % 1000));
	MPI_Finalize();
	free(in);
	free(out);
	return wrong;
}
