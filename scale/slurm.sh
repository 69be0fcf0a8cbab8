#!/bin/sh
# One shard of a campaign; 16 of them as an array. Reports go to reports/ in the directory of submission.
#SBATCH --job-name=overlapsim-fuzz
#SBATCH --array=0-15
#SBATCH --cpus-per-task=4
#SBATCH --mem=1G
#SBATCH --time=01:00:00
#SBATCH --output=fuzz-%A_%a.out

# 1 and 3 are what the runs came to: the shard is done. With 2 a file could not be written, or the command line is wrong, which shows
# at once: the shard is tried three times in all.
for pause in 30 120 0; do
    srun --cpus-per-task=4 \
        overlapsim fuzz --generate wide --seeds 0..64000000 --shard SLURM_ARRAY_TASK_ID/16 --jobs 4 --out reports
    code=$?
    case $code in
    0 | 1 | 3) exit 0 ;;
    2) sleep "$pause" ;;
    *) exit $code ;;
    esac
done
exit $code
